package dev.tutti.cli.show;

import dev.tutti.plan.Plan;
import java.util.Locale;
import java.util.stream.Collectors;

/** A page with the picture in it: pointing at an operation tells what it does, clicking follows its data back and forth. */
final class Page {
    private Page() {}

    static String of(Plan plan, PlanGraph graph, Drawing drawing) {
        String ops = graph.nodes.stream()
                .map(node -> String.format(
                        Locale.ROOT,
                        "\"%s\"",
                        quoted("rank " + node.rank + " · lane " + node.lane + " · op " + node.index + "   " + node.op)))
                .collect(Collectors.joining(",\n"));
        String flows = graph.edges.stream()
                .filter(edge -> edge.kind() == PlanGraph.Kind.DATA)
                .map(edge -> "[" + edge.from().id + "," + edge.to().id + "]")
                .collect(Collectors.joining(","));
        return TEMPLATE.replace("@TITLE@", Svg.escaped(plan.name()))
                .replace("@OPS@", ops)
                .replace("@FLOWS@", flows)
                .replace("@SVG@", Svg.of(drawing));
    }

    private static String quoted(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("<", "\\u003c");
    }

    private static final String TEMPLATE = """
            <!DOCTYPE html>
            <html lang="en">
            <meta charset="utf-8">
            <title>@TITLE@</title>
            <style>
              body { margin: 0; font: 14px Helvetica, Arial, sans-serif; color: #2b3036; }
              #about { position: sticky; left: 0; top: 0; background: #fffffff2; border-bottom: 1px solid #d3d8de;
                       padding: 8px 16px; min-height: 20px; z-index: 1; font-family: monospace; width: calc(100vw - 32px); }
              .op { cursor: pointer; }
              svg.following .op, svg.following .label, svg.following .flow:not([data-from="-1"]) { opacity: .12; }
              svg.following .on { opacity: 1 !important; }
              .picked { stroke: #d00000 !important; stroke-width: 2.5px; }
            </style>
            <div id="about">Point at an operation to read it; click to follow its data, click elsewhere to end that.</div>
            @SVG@
            <script>
              const ops = [@OPS@];
              const flows = [@FLOWS@];
              const svg = document.querySelector("svg"), about = document.getElementById("about");
              const before = new Map(), after = new Map();
              for (const [from, to] of flows) {
                (after.get(from) ?? after.set(from, []).get(from)).push(to);
                (before.get(to) ?? before.set(to, []).get(to)).push(from);
              }
              function reach(start, next) {
                const seen = new Set([start]), todo = [start];
                while (todo.length) for (const other of next.get(todo.pop()) ?? []) if (!seen.has(other)) {
                  seen.add(other); todo.push(other);
                }
                return seen;
              }
              let picked = null;
              function follow(id) {
                picked = id;
                svg.classList.toggle("following", id !== null);
                const past = id === null ? new Set() : reach(id, before), future = id === null ? past : reach(id, after);
                const on = each => past.has(each) || future.has(each);
                for (const each of svg.querySelectorAll("[data-op]")) {
                  each.classList.toggle("on", on(+each.dataset.op));
                  each.classList.toggle("picked", each.tagName === "rect" && +each.dataset.op === id);
                }
                for (const each of svg.querySelectorAll(".flow")) {
                  const from = +each.dataset.from, to = +each.dataset.to;
                  each.classList.toggle("on", on(from) && (to < 0 || on(to)) && (past.has(from) && past.has(to)
                    || future.has(from) && (to < 0 || future.has(to))));
                }
                if (id !== null) about.textContent = ops[id] + "   (from " + (past.size - 1) + " operations, to "
                  + (future.size - 1) + ")";
              }
              svg.addEventListener("mouseover", event => {
                const id = event.target.dataset?.op;
                if (id !== undefined && picked === null) about.textContent = ops[+id];
              });
              svg.addEventListener("click", event => {
                const id = event.target.dataset?.op;
                follow(id === undefined || +id === picked ? null : +id);
              });
            </script>
            </html>
            """;
}
