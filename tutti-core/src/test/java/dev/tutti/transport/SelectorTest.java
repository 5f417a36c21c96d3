package dev.tutti.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tutti.TuttiException;
import dev.tutti.spi.Transport;
import dev.tutti.transport.Selector.Location;
import dev.tutti.transport.Selector.Way;
import dev.tutti.transport.shm.MeetingPoint;
import java.util.List;
import org.junit.jupiter.api.Test;

class SelectorTest {
    private static final Location HERE = new Location("here", 1);
    private static final Location BESIDE = new Location("here", 2);
    private static final Location ELSEWHERE = new Location("there", 1);

    @Test
    void shouldChooseTheBestWayWhenThereIsOne() {
        assertEquals(Way.LOCAL, Selector.between(0, 1, List.of(HERE, HERE)));
        assertEquals(Way.SHARED_MEMORY, Selector.between(0, 1, List.of(HERE, BESIDE)));
    }

    @Test
    void shouldNameThePairWhenThereIsNoWay() {
        TuttiException none =
                assertThrows(TuttiException.class, () -> Selector.between(0, 2, List.of(HERE, BESIDE, ELSEWHERE)));
        assertTrue(String.valueOf(none.getMessage()).contains("rank 2 on there"), none::toString);
    }

    @Test
    void shouldNotMeetAnybodyWhenAllRanksAreHere() {
        try (Transport transport = Selector.open(List.of(HERE, HERE), new int[] {0, 1}, new MeetingPoint(), 0)) {
            assertEquals("local", transport.name());
        }
    }
}
