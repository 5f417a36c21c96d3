package dev.tutti.cli.run;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Signals to this process. {@code sun.misc.Signal} is the only way to them in Java; it is found by name, as the compiler warns of it
 * whatever it is told. Where it is missing, signals end this process as usual, and the watchdog ends the ranks.
 */
final class Interrupts implements AutoCloseable {
    private record Replaced(Object signal, Object handler) {}

    private final List<Replaced> replaced = new ArrayList<>();

    private Interrupts() {}

    static Interrupts handle(List<String> names, IntConsumer handler) {
        Interrupts interrupts = new Interrupts();
        for (String name : names) {
            try {
                Class<?> type = Class.forName("sun.misc.Signal");
                Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
                Object signal = type.getConstructor(String.class).newInstance(name);
                int number = (int) type.getMethod("getNumber").invoke(signal);
                Object proxy = Proxy.newProxyInstance(
                        Interrupts.class.getClassLoader(), new Class<?>[] {handlerType}, (self, method, arguments) -> {
                            if (method.getDeclaringClass() == Object.class) {
                                return switch (method.getName()) {
                                    case "hashCode" -> System.identityHashCode(self);
                                    case "equals" -> arguments != null && self == arguments[0];
                                    default -> "handler of SIG" + name;
                                };
                            }
                            handler.accept(number);
                            return null;
                        });
                Method handle = type.getMethod("handle", type, handlerType);
                interrupts.replaced.add(new Replaced(signal, handle.invoke(null, signal, proxy)));
            } catch (ReflectiveOperationException | IllegalArgumentException notHere) {
                // As said above.
            }
        }
        return interrupts;
    }

    /** Gives the signals back. */
    @Override
    public void close() {
        for (Replaced each : replaced) {
            try {
                Class<?> type = each.signal.getClass();
                type.getMethod("handle", type, Class.forName("sun.misc.SignalHandler"))
                        .invoke(null, each.signal, each.handler);
            } catch (ReflectiveOperationException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
        replaced.clear();
    }
}
