package dev.tutti;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Packages depend one way, along the line that a call takes: communicator, tuner, algorithm, executor, channels, memory,
 * with plans passed down it as data. Nothing lower knows anything higher.
 */
class ArchitectureTest {
    private static final String ROOT = "dev.tutti";

    /**
     * From the highest to the lowest: a package may use those after it, never one before it. Plans are data that the
     * executor reads, so they stand below it.
     */
    private static final List<String> LAYERS =
            List.of("tune", "algorithm", "exec", "channel", "plan", "transport", "memory", "posix", "reduce", "data");

    /** The types of the API that are plain values, which every layer may speak of; exceptions are allowed besides. */
    private static final Set<String> VALUES =
            Set.of("DataType", "ReduceOp", "ReduceFunction", "Config", "Collective", "Protocol");

    /** {@code java.base} is more than {@code java..}: the secret's HMAC and TLS are in {@code javax}. */
    private static final String[] ALLOWED = {
        ROOT + "..", "java..", "javax.crypto..", "javax.net..", "jdk.incubator.vector..", "org.jspecify.."
    };

    private static final JavaClasses CORE = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(ROOT);

    private static final DescribedPredicate<JavaClass> API_BEYOND_VALUES = resideInAPackage(ROOT)
            .and(describe("no value type", type -> !isValue(type)))
            .as("types of the API that are not plain values");

    private static boolean isValue(JavaClass type) {
        JavaClass outermost = type.getBaseComponentType();
        while (outermost.getEnclosingClass().isPresent()) {
            outermost = outermost.getEnclosingClass().get();
        }
        return VALUES.contains(outermost.getSimpleName())
                || outermost.isAssignableTo(Throwable.class)
                || outermost.getSimpleName().equals("package-info");
    }

    @Test
    void shouldUseOfTheApiOnlyValuesWhenInternal() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".*..")
                .should()
                .dependOnClassesThat(API_BEYOND_VALUES)
                .allowEmptyShould(true)
                .check(CORE);
    }

    static List<String> layers() {
        return LAYERS.subList(1, LAYERS.size());
    }

    @ParameterizedTest
    @MethodSource("layers")
    void shouldNotDependOnHigherLayersWhenLower(String layer) {
        String[] higher = LAYERS.subList(0, LAYERS.indexOf(layer)).stream()
                .map(ArchitectureTest::packageOf)
                .toArray(String[]::new);
        noClasses()
                .that()
                .resideInAPackage(packageOf(layer))
                .should()
                .dependOnClassesThat(resideInAnyPackage(higher))
                .allowEmptyShould(true)
                .check(CORE);
    }

    @Test
    void shouldNotKnowWhatRunsPlansWhenWritingThem() {
        noClasses()
                .that()
                .resideInAnyPackage(packageOf("algorithm"), packageOf("plan"))
                .should()
                .dependOnClassesThat(resideInAnyPackage(packageOf("exec"), packageOf("channel"), packageOf("memory")))
                .allowEmptyShould(true)
                .check(CORE);
    }

    /** The executor sees memory, never how it came to be shared. */
    @Test
    void shouldKnowTransportsOnlyByTheirInterfaceWhenRunningPlans() {
        noClasses()
                .that()
                .resideInAnyPackage(packageOf("exec"), packageOf("channel"), packageOf("p2p"))
                .should()
                .dependOnClassesThat(resideInAnyPackage(packageOf("transport")))
                .allowEmptyShould(true)
                .check(CORE);
    }

    @Test
    void shouldHaveNoCyclesWhenTheRootIsLeftOut() {
        slices().matching(ROOT + ".(*)..")
                .should()
                .beFreeOfCycles()
                .allowEmptyShould(true)
                .check(CORE);
    }

    @Test
    void shouldNeedNothingButTheJdkWhenRunning() {
        classes()
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(ALLOWED).as("classes of Tutti, the JDK and jspecify"))
                .allowEmptyShould(true)
                .check(CORE);
    }

    private static String packageOf(String layer) {
        return ROOT + "." + layer + "..";
    }
}
