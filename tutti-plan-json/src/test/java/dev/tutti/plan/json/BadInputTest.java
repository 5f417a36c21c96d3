package dev.tutti.plan.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.tutti.plan.Plan;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files that are no plans: a clear error that says where, never anything else. */
@Timeout(60)
final class BadInputTest {
    private static final String GOOD = """
            {"name":"pair","collective":"allreduce","protocol":"LL","inplace":true,"gpus":[
             {"id":0,"input_chunks":2,"output_chunks":2,"scratch_chunks":4,
              "threadblocks":[{"id":0,"ops":[
                {"name":"ppkt","src_buff":[{"type":"i","index":1,"size":1}],"dst_buff":[{"buffer_id":0,"index":0,"size":1}],"channel_type":"memory"},
                {"name":"signal","channel_ids":[0],"channel_type":"memory"},
                {"name":"sem_acquire","semaphore_ids":[0]},
                {"name":"pipeline","iter_context":{"unit_size":64,"num_chunks":1},"ops":[{"name":"nop"}]},
                {"name":"re","src_buff":[{"type":"i","index":0,"size":1},{"type":"s","index":1,"size":1}],"dst_buff":[{"type":"i","index":0,"size":1}],"reduce_op":"sum"},
                {"name":"upkt","src_buff":[{"type":"s","index":3,"size":1}],"dst_buff":[{"type":"i","index":1,"size":1}]}],
               "channels":[{"channel_type":"memory","channel_ids":[0]}],
               "remote_buffer_refs":[{"access_channel_type":"memory","remote_buffer_ids":[0]}]}],
              "channels":[{"channel_type":"memory","connected_to":[1]}],
              "remote_buffers":[{"rank":1,"type":"s","access_channel_types":["memory"]}],"semaphores":[{"init_value":1}]},
             {"id":1,"input_chunks":2,"output_chunks":2,"scratch_chunks":4,"threadblocks":[],
              "channels":[{"channel_type":"memory","connected_to":[0]}],"remote_buffers":[]}],
             "max_message_size":18446744073709551615}
            """;

    @Test
    void shouldReadWhatIsRight() {
        Plan plan = PlanFile.parse(GOOD);
        assertThat(plan.ranks()).isEqualTo(2);
        assertThat(plan.header().maxBytes()).isEqualTo(-1L);
        assertThat(plan.rank(0).lanes().getFirst()).hasSize(6);
        assertThat(plan.rank(0).semaphores()).containsExactly(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            "name":"pair"               | "name":7                     | name | must be a text, is a number
            "id":1                      | "id":2                       | gpus[1].id | must be 1, is 2
            "input_chunks":2            | "input_chunks":-2            | gpus[0].input_chunks | must be in 0..2147483647, is -2
            "input_chunks":2            | "input_chunks":3000000000    | gpus[0].input_chunks | must be in 0..2147483647, is 3000000000
            "input_chunks":2            | "input_chunks":1.5           | gpus[0].input_chunks | must be a whole number, is a number
            "connected_to":[1]          | "connected_to":[2]           | gpus[0].channels[0].connected_to[0] | there is no rank 2 among 2
            "connected_to":[1]          | "connected_to":[0]           | gpus[0].channels[0].connected_to[0] | rank 0 is joined to itself
            "rank":1                    | "rank":9                     | gpus[0].remote_buffers[0].rank | there is no rank 9 among 2
            "buffer_id":0               | "buffer_id":4                | gpus[0].threadblocks[0].ops[0].dst_buff[0].buffer_id | the lane's table of memory buffers has 1 entries, none is 4
            "remote_buffer_ids":[0]     | "remote_buffer_ids":[5]      | gpus[0].threadblocks[0].ops[0].dst_buff[0].buffer_id | rank 0 has no remote buffer 5
            "channel_ids":[0],"channel_type" | "channel_ids":[3],"channel_type" | gpus[0].threadblocks[0].ops[1].channel_ids[0] | the lane's table of memory channels has 1 entries, none is 3
            "semaphore_ids":[0]         | "semaphore_ids":[1]          | gpus[0].threadblocks[0].ops[2].semaphore_ids[0] | rank 0 has no semaphore 1
            "unit_size":64              | "unit_size":0                | gpus[0].threadblocks[0].ops[3].iter_context.unit_size | must be in 1..2147483647, is 0
            "ops":[{"name":"nop"}]      | "ops":[{"name":"fly"}]       | gpus[0].threadblocks[0].ops[3].ops[0].name | there is no operation 'fly'
            "index":3                   | "index":4                    | gpus[0].threadblocks[0].ops[5].src_buff[0] | chunks 4..4 of s on rank 0, which has 4
            "reduce_op":"sum"           | "reduce_op":"sun"            | gpus[0].threadblocks[0].ops[4].reduce_op | there is no operator 'sun'
            "protocol":"LL"             | "protocol":"L"               | protocol | is Simple or LL, not 'L'
            18446744073709551615        | 18446744073709551616         | max_message_size | must be in 0..2^64-1, is 18446744073709551616
            "name":"upkt","src_buff"    | "name":"upkt","src_buf"      | gpus[0].threadblocks[0].ops[5] | upkt needs src_buff and dst_buff
            "type":"s","index":3        | "type":"i","index":1         | gpus[0].threadblocks[0].ops[5].src_buff[0] | packets live in scratch only
            """)
    void shouldSayWhereAndWhy(String right, String wrong, String path, String problem) {
        assertThat(GOOD).contains(right);
        String bad = GOOD.replaceFirst(java.util.regex.Pattern.quote(right), wrong.replace("$", "\\$"));
        assertThatThrownBy(() -> PlanFile.parse(bad))
                .isInstanceOfSatisfying(
                        PlanFormatException.class,
                        thrown -> assertThat(thrown.path()).isEqualTo(path))
                .hasMessage(path + ": " + problem);
    }

    @Test
    void shouldNameMissingFields() {
        assertThatThrownBy(() -> PlanFile.parse("{}")).hasMessage("plan: field 'gpus' is missing");
        assertThatThrownBy(() -> PlanFile.parse("{\"gpus\":[]}")).hasMessage("plan: field 'name' is missing");
    }

    @Test
    void shouldRefuseEveryTruncation() {
        String text = GOOD.strip();
        for (int length = 0; length < text.length(); length++) {
            String cut = text.substring(0, length);
            assertThatThrownBy(() -> PlanFile.parse(cut)).isInstanceOf(PlanFormatException.class);
        }
    }

    @Test
    void shouldRefuseDeepNesting() {
        for (String open : new String[] {"[", "{\"a\":", "{\"gpus\":[", "{\"tutti\":["}) {
            assertThatThrownBy(() -> PlanFile.parse(open.repeat(100_000))).isInstanceOf(PlanFormatException.class);
        }
        String nested = "{\"name\":\"pipeline\",\"ops\":[".repeat(1000);
        assertThatThrownBy(() -> PlanFile.parse("{\"gpus\":[{\"threadblocks\":[{\"ops\":[" + nested))
                .isInstanceOf(PlanFormatException.class)
                .hasMessageContaining("depth");
    }

    @Test
    void shouldRefuseEnormousValues() {
        String digits = "9".repeat(1_000_000);
        assertThatThrownBy(() -> PlanFile.parse("{\"min_message_size\":" + digits + "}"))
                .isInstanceOf(PlanFormatException.class);
        String text = "x".repeat(3_000_000);
        assertThatThrownBy(() -> PlanFile.parse("{\"name\":\"" + text + "\"}")).isInstanceOf(PlanFormatException.class);
        String ranks = "{},".repeat(70_000);
        assertThatThrownBy(() -> PlanFile.parse("{\"gpus\":[" + ranks + "{}]}"))
                .isInstanceOf(PlanFormatException.class)
                .hasMessageContaining("more than 65536 elements");
    }

    @Test
    void shouldBoundWhatGroupsExpandTo() {
        StringBuilder json = new StringBuilder(
                "{\"name\":\"g\",\"collective\":\"test\",\"protocol\":\"Simple\",\"inplace\":false,\"gpus\":[");
        int ranks = 3000;
        String group = java.util.stream.IntStream.range(0, ranks)
                .mapToObj(Integer::toString)
                .collect(java.util.stream.Collectors.joining(","));
        String op =
                "{\"name\":\"glres\",\"src_buff\":[{\"switch_channel_id\":0,\"index\":0,\"size\":1}],\"dst_buff\":[{\"switch_channel_id\":0,\"index\":0,\"size\":1}]}";
        for (int rank = 0; rank < ranks; rank++) {
            json.append(rank == 0 ? "" : ",")
                    .append("{\"id\":")
                    .append(rank)
                    .append(",\"input_chunks\":1,\"output_chunks\":1,\"scratch_chunks\":0");
            if (rank == 0) {
                json.append(
                                ",\"channels\":[{\"channel_type\":\"switch\",\"buffer_type\":\"i\",\"rank_groups\":[{\"ranks\":[")
                        .append(group)
                        .append(
                                "]}]}],\"threadblocks\":[{\"id\":0,\"channels\":[{\"channel_type\":\"switch\",\"channel_ids\":[0]}],\"ops\":[")
                        .append((op + ",").repeat(8000))
                        .append(op)
                        .append("]}]");
            }
            json.append('}');
        }
        assertThatThrownBy(() -> PlanFile.parse(json.append("]}").toString()))
                .isInstanceOf(PlanFormatException.class)
                .hasMessageContaining("operands");
    }

    @Test
    void shouldLoadOrRefuseWhateverIsChangedAtRandom() {
        long seed = Long.getLong("tutti.seed", 7);
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        String pieces = "0123456789-+.eE\"{}[]:,tfnios \\\u0000";
        int loaded = 0;
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder(GOOD);
            for (int change = 0; change <= random.nextInt(4); change++) {
                int at = random.nextInt(text.length());
                switch (random.nextInt(4)) {
                    case 0 -> text.setCharAt(at, pieces.charAt(random.nextInt(pieces.length())));
                    case 1 -> text.deleteCharAt(at);
                    case 2 -> text.insert(at, pieces.charAt(random.nextInt(pieces.length())));
                    default -> text.delete(at, Math.min(text.length(), at + random.nextInt(60)));
                }
            }
            try {
                PlanFile.parse(text.toString());
                loaded++;
            } catch (PlanFormatException expected) {
                assertThat(expected.getMessage()).isNotBlank();
            } catch (Throwable other) {
                fail("seed " + seed + ", change " + i + ": " + text, other);
            }
        }
        System.out.println("of 20000 changed plans " + loaded + " still load");
    }
}
