import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's RLock, a thread for each task. See README.md in the folder above. */
public final class Peer {
    private static final int HOLDERS = 64;
    private static RedissonClient client;
    /** Those that hold: a lock is released by the thread that took it. */
    private static final List<ExecutorService> holders = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        final int count = arguments.length;
        final Config config = new Config();
        final long lease = Long.parseLong(arguments[count - 1]);
        if (lease > 0) {
            config.setLockWatchdogTimeout(lease);
        }
        config.useSingleServer().setAddress("redis://127.0.0.1:" + arguments[count - 2]);
        client = Redisson.create(config);
        for (int i = 0; i < HOLDERS; ++i) {
            holders.add(Executors.newSingleThreadExecutor());
        }
        System.out.println("{\"key\":\"peers:0\"}");
        final BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            System.out.println(answer(line.split(" ")));
        }
        System.exit(0);
    }

    private static RLock named(int number) {
        return client.getLock("peers:" + number);
    }

    private static String answer(String[] words) throws Exception {
        final int count = words.length > 1 ? Integer.parseInt(words[1]) : held;
        if (words[0].equals("cycle")) {
            final int tasks = Integer.parseInt(words[2]);
            final long end = System.nanoTime() + (long) (Double.parseDouble(words[3]) * 1e9);
            final Cycles all = new Cycles();
            inThreads(tasks, i -> all.add(Cycles.run(named(i % count), end)));
            return all.toString();
        }
        long at = now();
        switch (words[0]) {
            case "hold":
                byHolders(count, i -> named(i).lock());
                held = count;
                at = now();
                break;
            case "once":
                inThreads(count, i -> {
                    final RLock lock = named(0);
                    lock.lock();
                    lock.unlock();
                });
                at = now();
                break;
            case "drop":
                byHolders(held, i -> named(i).unlock());
                break;
            default:
                throw new IllegalArgumentException(words[0]);
        }
        return "{\"at\":" + at + "}";
    }

    private static int held = 0;

    private static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    private static void inThreads(int count, IntConsumer task) throws Exception {
        final ExecutorService threads = Executors.newFixedThreadPool(count);
        final List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
            final int number = i;
            all.add(threads.submit(() -> task.accept(number)));
        }
        for (Future<?> each : all) {
            each.get();
        }
        threads.shutdown();
    }

    private static void byHolders(int count, IntConsumer task) throws Exception {
        final List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
            final int number = i;
            all.add(holders.get(i % HOLDERS).submit(() -> task.accept(number)));
        }
        for (Future<?> each : all) {
            each.get();
        }
    }

    /** What a task saw; times in steps of one percent. */
    private static final class Cycles {
        private long count = 0;
        private final Map<Long, Long> waits = new TreeMap<>();
        private final Map<Long, Long> whole = new TreeMap<>();

        static Cycles run(RLock lock, long end) {
            final Cycles seen = new Cycles();
            for (long asked; (asked = System.nanoTime()) < end; ) {
                lock.lock();
                final long got = System.nanoTime();
                seen.waits.merge(step(got - asked), 1L, Long::sum);
                lock.unlock();
                seen.whole.merge(step(System.nanoTime() - asked), 1L, Long::sum);
                if (got < end) {
                    ++seen.count;
                }
            }
            return seen;
        }

        synchronized void add(Cycles other) {
            count += other.count;
            other.waits.forEach((step, times) -> waits.merge(step, times, Long::sum));
            other.whole.forEach((step, times) -> whole.merge(step, times, Long::sum));
        }

        private static long step(long ns) {
            return Math.round(100 * Math.log(Math.max(ns / 1e3, 0.1)));
        }

        private static String json(Map<Long, Long> steps) {
            return steps.entrySet().stream()
                    .map(each -> "\"" + each.getKey() + "\":" + each.getValue())
                    .collect(Collectors.joining(",", "{", "}"));
        }

        @Override
        public String toString() {
            return "{\"count\":" + count + ",\"waits\":" + json(waits) + ",\"cycles\":"
                    + json(whole) + "}";
        }
    }
}
