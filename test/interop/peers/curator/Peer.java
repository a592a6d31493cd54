import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** A peer of the interoperation tests: Curator's InterProcessMutex. See test/interop/peer.hpp. */
public final class Peer {
    private final CuratorFramework curator;
    private final String root;
    private final Map<String, InterProcessMutex> held = new HashMap<>();

    private Peer(String servers, String root) throws InterruptedException {
        this.root = root;
        // [connect]
        curator = CuratorFrameworkFactory.newClient(
                servers, 30_000, 30_000, new ExponentialBackoffRetry(100, 3));
        curator.start();
        curator.blockUntilConnected();
        // [/connect]
    }

    public static void main(String[] arguments) throws Exception {
        final Peer peer = new Peer(arguments[0], arguments[1]);
        System.out.println("ready");
        final BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null; ) {
            System.out.println(peer.answer(line.split(" ")));
        }
        System.exit(0);
    }

    // [lock]
    private boolean lock(String name, long wait) throws Exception {
        final InterProcessMutex lock = new InterProcessMutex(curator, root + "/" + name);
        if (!lock.acquire(wait, TimeUnit.MILLISECONDS)) {
            return false;
        }
        held.put(name, lock);
        return true;
    }

    private void unlock(String name) throws Exception {
        held.remove(name).release();
    }
    // [/lock]

    private static void increment(Path counter) throws Exception {
        final String text = Files.readString(counter);
        Thread.sleep(1);
        final int value = text.isEmpty() ? 0 : Integer.parseInt(text);
        Files.writeString(counter, Integer.toString(value + 1));
    }

    private String answer(String[] words) throws Exception {
        final String name =
                new String(HexFormat.of().parseHex(words[1]), StandardCharsets.UTF_8);
        switch (words[0]) {
            case "lock":
                return lock(name, Long.parseLong(words[3])) ? "locked" : "busy";
            case "unlock":
                unlock(name);
                return "unlocked";
            case "count":
                for (int left = Integer.parseInt(words[3]); left > 0; --left) {
                    if (!lock(name, 60_000)) {
                        return "busy";
                    }
                    increment(Path.of(words[2]));
                    unlock(name);
                }
                return "counted";
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }
}
