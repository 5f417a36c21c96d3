package dev.tutti;

import java.util.List;

/** A send and a receive that were started together. */
final class ExchangeWork extends GroupWork implements ReceiveWork {
    private final MessageWork receive;

    ExchangeWork(MessageWork receive, MessageWork send) {
        super(List.of(receive, send));
        this.receive = receive;
    }

    @Override
    public Received received() {
        return receive.received();
    }
}
