package dev.tutti.p2p;

import org.jspecify.annotations.Nullable;

/**
 * Who gets which message. What comes goes to the receive that was posted first among those that take its source and tag; a
 * receive that is posted gets what came first among what it takes. Because each pair's messages come in order, they are
 * matched in order per (source, tag).
 *
 * <p>Receives that name their source wait in its link, the others here; both are searched one by one, as are messages that
 * nobody has asked for yet.
 */
final class Matching {
    private final MessageQueue anySource = new MessageQueue();
    private @Nullable Arrival first;
    private @Nullable Arrival last;
    private int waitingForAny;

    boolean isWaitingForAny() {
        return waitingForAny != 0;
    }

    void post(Message receive, @Nullable Link source) {
        receive.stage = Message.Stage.WAITING;
        if (source == null) {
            anySource.add(receive);
            waitingForAny++;
        } else {
            source.posted.add(receive);
        }
    }

    /** The receive for something that has come, taken out of its queue; null if nobody has asked for it yet. */
    @Nullable
    Message takeReceive(Link link, int tag) {
        Message named = link.posted.firstFor(tag);
        Message any = waitingForAny == 0 ? null : anySource.firstFor(tag);
        if (any == null) {
            if (named != null) {
                link.posted.remove(named);
            }
            return named;
        }
        if (named != null && named.order < any.order) {
            link.posted.remove(named);
            return named;
        }
        anySource.remove(any);
        waitingForAny--;
        link.servedAny();
        return any;
    }

    /** The first thing that came for a receive, taken out of the lists; null if nothing has come yet. */
    @Nullable
    Arrival takeArrival(Message receive, @Nullable Link source) {
        Arrival arrival = source == null ? first : source.firstArrival;
        while (arrival != null && !receive.takes(arrival.tag)) {
            arrival = source == null ? arrival.nextOfAll : arrival.nextOfLink;
        }
        if (arrival != null) {
            remove(arrival);
        }
        return arrival;
    }

    @Nullable
    Arrival firstArrival() {
        return first;
    }

    void keep(Arrival arrival) {
        Link link = arrival.link;
        arrival.previousOfAll = last;
        arrival.previousOfLink = link.lastArrival;
        if (last == null) {
            first = arrival;
        } else {
            last.nextOfAll = arrival;
        }
        last = arrival;
        if (link.lastArrival == null) {
            link.firstArrival = arrival;
        } else {
            link.lastArrival.nextOfLink = arrival;
        }
        link.lastArrival = arrival;
    }

    private void remove(Arrival arrival) {
        Arrival before = arrival.previousOfAll;
        Arrival after = arrival.nextOfAll;
        if (before == null) {
            first = after;
        } else {
            before.nextOfAll = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previousOfAll = before;
        }
        Link link = arrival.link;
        before = arrival.previousOfLink;
        after = arrival.nextOfLink;
        if (before == null) {
            link.firstArrival = after;
        } else {
            before.nextOfLink = after;
        }
        if (after == null) {
            link.lastArrival = before;
        } else {
            after.previousOfLink = before;
        }
    }
}
