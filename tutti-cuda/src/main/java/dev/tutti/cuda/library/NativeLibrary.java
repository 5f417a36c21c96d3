package dev.tutti.cuda.library;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A shared library that may be there or not. Functions of one that is not, or that it does not have, can be asked for all the
 * same: calling them throws and says what is missing. So tables of functions need no second form.
 */
public final class NativeLibrary {
    private static final Linker LINKER = Linker.nativeLinker();

    private final String label;
    private final @Nullable SymbolLookup symbols;
    private final String place;
    private final @Nullable String cause;

    private NativeLibrary(String label, @Nullable SymbolLookup symbols, String place, @Nullable String cause) {
        this.label = label;
        this.symbols = symbols;
        this.place = place;
        this.cause = cause;
    }

    /**
     * Looks for a library: by its names as the loader knows them, then in the usual folders.
     *
     * @param label what messages call it
     * @param names file names, the preferred first
     * @param hint what to do when it is missing
     */
    public static NativeLibrary open(String label, List<String> names, String hint) {
        for (Path file : Folders.asked(names)) {
            try {
                return new NativeLibrary(
                        label, SymbolLookup.libraryLookup(file, Arena.global()), file.toString(), null);
            } catch (IllegalArgumentException cannotLoad) {
                // perhaps another one can be
            }
        }
        for (String name : names) {
            try {
                return new NativeLibrary(label, SymbolLookup.libraryLookup(name, Arena.global()), name, null);
            } catch (IllegalArgumentException notFound) {
                // the loader does not know it; the folders may
            }
        }
        String broken = "";
        for (Path file : Folders.candidates(names)) {
            try {
                return new NativeLibrary(
                        label, SymbolLookup.libraryLookup(file, Arena.global()), file.toString(), null);
            } catch (IllegalArgumentException cannotLoad) {
                broken = "; " + file + " is there but cannot be loaded";
            }
        }
        String cause = "no " + label + ": " + String.join(" or ", names)
                + " is neither known to the loader nor in CUDA's usual folders nor in Python's nvidia packages" + broken
                + "; " + hint;
        return new NativeLibrary(label, null, "", cause);
    }

    /** Whether it was found. */
    public boolean isAvailable() {
        return symbols != null;
    }

    /** Why it is not available, or null. */
    public @Nullable String unavailabilityCause() {
        return cause;
    }

    /** The name or file that was loaded. */
    public String place() {
        return place;
    }

    /** Whether it has a function: older and newer versions differ. */
    public boolean has(String function) {
        return find(function).isPresent();
    }

    /** A function that returns {@code int}; calling it throws if it is missing. */
    public MethodHandle function(String name, MemoryLayout... arguments) {
        return of(name, FunctionDescriptor.of(java.lang.foreign.ValueLayout.JAVA_INT, arguments));
    }

    /** Any function; calling it throws if it is missing. */
    public MethodHandle of(String name, FunctionDescriptor descriptor) {
        return find(name)
                .map(symbol -> LINKER.downcallHandle(symbol, descriptor))
                .orElseGet(() -> missing(name, descriptor.toMethodType()));
    }

    private Optional<MemorySegment> find(String name) {
        return symbols == null ? Optional.empty() : symbols.find(name);
    }

    private MethodHandle missing(String name, MethodType type) {
        String text = cause != null ? cause : label + " (" + place + ") has no " + name + ": it is too old for this";
        MethodHandle thrower = MethodHandles.throwException(type.returnType(), UnsupportedOperationException.class)
                .bindTo(new UnsupportedOperationException(text));
        return MethodHandles.dropArguments(thrower, 0, type.parameterList());
    }
}
