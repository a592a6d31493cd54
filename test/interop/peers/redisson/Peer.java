import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RBucket;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A peer of the interoperation tests: Redisson's RFencedLock, or, with the first argument
 * "--plain", its RLock. See test/interop/peer.hpp.
 */
public final class Peer {
    private static boolean plain = false;

    public static void main(String[] arguments) throws Exception {
        plain = arguments[0].equals("--plain");
        final Config config = new Config();
        config.setLockWatchdogTimeout(1500); // not 30 s: tests see many lease times
        config.useSingleServer().setAddress(
                "redis://127.0.0.1:" + arguments[arguments.length - 1]);
        final RedissonClient client = Redisson.create(config);
        System.out.println("ready");
        final BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null; ) {
            System.out.println(answer(client, line.split(" ")));
        }
        System.exit(0);
    }

    private static RLock other(RedissonClient client, String verb, String name) {
        return verb.startsWith("fair") ? client.getFairLock(name) : client.getSpinLock(name);
    }

    private static String answer(RedissonClient client, String[] words) throws Exception {
        final String name =
                new String(HexFormat.of().parseHex(words[1]), StandardCharsets.UTF_8);
        // [lock]
        final RLock lock = plain ? client.getLock(name) : client.getFencedLock(name);
        switch (words[0]) {
            case "lock": {
                final long lease = Long.parseLong(words[2]);
                final long wait = Long.parseLong(words[3]);
                return lock.tryLock(wait, lease, TimeUnit.MILLISECONDS) ? "locked" : "busy";
            }
            case "unlock":
                try {
                    lock.unlock();
                    return "unlocked";
                } catch (IllegalMonitorStateException lost) {
                    return "lost";
                }
        // [/lock]
            case "count": {
                final RBucket<String> counter =
                        client.getBucket(words[2], StringCodec.INSTANCE);
                for (int left = Integer.parseInt(words[3]); left > 0; --left) {
                    lock.lock(10, TimeUnit.SECONDS);
                    counter.set(Long.toString(Long.parseLong(counter.get()) + 1));
                    lock.unlock();
                }
                return "counted";
            }
            // Of Redisson alone.
            case "renewing": // until it is left: no lease time
                return lock.tryLock() ? "locked" : "busy";
            case "token": // of the fence
                return ((RFencedLock) lock).getToken().toString();
            case "state": // as Redisson sees it, whoever has it
                return lock.isLocked() + " " + (lock.remainTimeToLive() > 0) + " "
                        + lock.isHeldByCurrentThread() + " " + lock.getHoldCount();
            // Its other locks, until they are left: no lease time.
            case "fair":
            case "spin":
                return other(client, words[0], name).tryLock() ? "locked" : "busy";
            case "fair_unlock":
            case "spin_unlock":
                other(client, words[0], name).unlock();
                return "unlocked";
            case "force":
                return lock.forceUnlock() ? "forced" : "free";
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }
}
