import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** The jobs of benchmark/stores.cpp with InterProcessMutex of Curator. Pairs HOST:PORT SECONDS */
public final class Pairs {
    private static final int TOGETHER = 20;
    /** The compilers of Java need some thousand pairs before the code is as fast as it gets. */
    private static final double WARM_UP = 2;

    private static String hosts;

    public static void main(String[] arguments) throws Exception {
        hosts = arguments[0];
        final double seconds = Double.parseDouble(arguments[1]);
        final CuratorFramework client = connect();
        inThreads(TOGETHER, i -> pairs(mutex(client, "key" + i), WARM_UP));
        final List<Long> alone = pairs(mutex(client, "alone"), seconds);
        System.out.printf("latency average = %.4f ms%n", median(alone) / 1e6);
        final List<Long> all = inThreads(TOGETHER, i -> pairs(mutex(client, "key" + i), seconds));
        System.out.printf("throughput = %.1f%n", all.size() / seconds);
        final CuratorFramework other = connect();
        final AtomicLong left = new AtomicLong();
        turns(client, other, left, WARM_UP);
        System.out.printf("handoff = %.4f ms%n",
                median(turns(client, other, left, seconds)) / 1e6);
        System.exit(0);
    }

    private static CuratorFramework connect() throws InterruptedException {
        final CuratorFramework client =
                CuratorFrameworkFactory.newClient(hosts, 10_000, 10_000, new RetryOneTime(100));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    private static InterProcessMutex mutex(CuratorFramework client, String name) {
        return new InterProcessMutex(client, "/curator/" + name);
    }

    /** Acquires and releases for this time. Returns the times of acquire and release together. */
    private static List<Long> pairs(InterProcessMutex lock, double seconds) throws Exception {
        final List<Long> times = new ArrayList<>();
        final long end = System.nanoTime() + (long) (seconds * 1e9);
        for (long begin = System.nanoTime(); begin < end;) {
            lock.acquire();
            lock.release();
            final long now = System.nanoTime();
            times.add(now - begin);
            begin = now;
        }
        return times;
    }

    /** Two clients take one lock in turn. Returns the times from a release to the next grant. */
    private static List<Long> turns(CuratorFramework one, CuratorFramework other, AtomicLong left,
            double seconds) throws Exception {
        final long end = System.nanoTime() + (long) (seconds * 1e9);
        left.set(0);
        return inThreads(2, i -> {
            final InterProcessMutex shared = mutex(i == 0 ? one : other, "handoff");
            final List<Long> times = new ArrayList<>();
            while (System.nanoTime() < end) {
                shared.acquire();
                final long before = left.get();
                if (before != 0) {
                    times.add(System.nanoTime() - before);
                }
                left.set(System.nanoTime());
                shared.release();
            }
            return times;
        });
    }

    private interface Job {
        List<Long> run(int thread) throws Exception;
    }

    private static List<Long> inThreads(int count, Job job) throws Exception {
        final ExecutorService threads = Executors.newFixedThreadPool(count);
        final List<Future<List<Long>>> running = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
            final int thread = i;
            running.add(threads.submit(() -> job.run(thread)));
        }
        final List<Long> all = new ArrayList<>();
        for (Future<List<Long>> each : running) {
            all.addAll(each.get());
        }
        threads.shutdown();
        return all;
    }

    private static double median(List<Long> times) {
        Collections.sort(times);
        return times.get(times.size() / 2);
    }
}
