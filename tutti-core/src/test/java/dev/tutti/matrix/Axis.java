package dev.tutti.matrix;

import dev.tutti.DataType;
import java.util.List;
import java.util.stream.IntStream;

/** In what cells differ, in the order of the numbers that make up a point. */
enum Axis {
    /** Operation, algorithm and protocol. */
    ROUTE(Route.ALL),
    TYPE(List.of(DataType.values())),
    OPERATOR(List.of(Operator.values())),
    RANKS(List.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 32)),
    EXTENT(List.of(Extent.values())),
    FORM(List.of(Form.values())),
    IN(List.of(Placement.values())),
    OUT(List.of(Placement.values())),
    IN_PLACE(List.of(false, true)),
    SHIFT(IntStream.range(0, 16).boxed().toList()),
    ROOT(List.of("first", "middle", "last")),
    LANES(List.of(1, 2, 3)),
    SETTING(List.of(Setting.values()));

    final List<?> values;

    Axis(List<?> values) {
        this.values = values;
    }

    /** Which of the values a cell has. */
    Object of(Cell cell) {
        return switch (this) {
            case ROUTE -> new Route(cell.operation(), cell.algorithm(), cell.protocol());
            case TYPE -> cell.type();
            case OPERATOR -> cell.operator();
            case RANKS -> cell.ranks();
            case EXTENT -> cell.extent();
            case FORM -> cell.form();
            case IN -> cell.in();
            case OUT -> cell.out();
            case IN_PLACE -> cell.inPlace();
            case SHIFT -> cell.shift();
            case ROOT -> cell.root() == 0 ? "first" : cell.root() == cell.ranks() - 1 ? "last" : "middle";
            case LANES -> cell.lanes();
            case SETTING -> cell.setting();
        };
    }
}
