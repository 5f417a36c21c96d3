package dev.tutti;

/**
 * A receive that was started: afterwards it knows what came, and from whom.
 *
 * {@snippet :
 * ReceiveWork arriving = comm.recvAsync(request, Communicator.ANY_SOURCE, 0);
 * arriving.await();
 * comm.send(answer, arriving.received().source(), 0);
 * }
 */
public sealed interface ReceiveWork extends Work permits MessageWork, ExchangeWork {
    /**
     * What was received.
     *
     * @return who sent it, with which tag, how many elements
     * @throws TuttiException if the receive is not over, or has failed
     */
    Received received();
}
