package dev.tutti.algorithm;

import static dev.tutti.plan.Protocol.SIMPLE;

import dev.tutti.Collective;
import dev.tutti.plan.Protocol;
import java.util.ArrayList;
import java.util.List;

/** The algorithms of one collective while they are listed, each by the kind that it is of. */
final class Family {
    private final Collective collective;
    private final List<Algorithm> members = new ArrayList<>();

    Family(Collective collective) {
        this.collective = collective;
    }

    /** In the order in which they were added. */
    List<Algorithm> members() {
        return List.copyOf(members);
    }

    private void add(Algorithm algorithm) {
        members.add(algorithm);
    }

    /** An algorithm that folds in rank order, if it folds. */
    void inOrder(String name, Protocol protocol, Author author) {
        add(new Algorithm(name, collective, protocol, true, protocol == SIMPLE, false, false, author, author));
    }

    /** An algorithm that folds in an order of its own. */
    void anyOrder(String name, Author author) {
        add(new Algorithm(name, collective, SIMPLE, false, true, false, false, author, author));
    }

    /** An algorithm whose peers read what a rank shows them in its scratch. */
    void reading(String name, Author author) {
        add(new Algorithm(name, collective, SIMPLE, true, true, true, false, author, author));
    }

    /** An algorithm on registered memory whose blocks all have the same length. */
    void direct(String name, Author author) {
        add(new Algorithm(name, collective, SIMPLE, true, false, false, true, author, inPlace(author)));
    }

    /** An algorithm on registered memory. */
    void directRagged(String name, Author author) {
        add(new Algorithm(name, collective, SIMPLE, true, true, false, true, author, inPlace(author)));
    }

    /** An algorithm on registered memory that reaches outputs only, which nobody but who reaches them writes. */
    void writing(String name, boolean ragged, Author author) {
        add(new Algorithm(name, collective, SIMPLE, true, ragged, false, true, author, author));
    }

    /** What peers read where it lies is in its owner's cache, and has to be taken back into it when its owner writes it next. */
    private static Cost inPlace(Cost cost) {
        return (n, b, c) -> cost.nanos(n, b, c) + c.readInPlace(b);
    }

    /** An algorithm in which ranks pass on blocks of others, whose lengths only the root would know. */
    void even(String name, Author author) {
        add(new Algorithm(name, collective, SIMPLE, true, false, false, false, author, author));
    }
}
