// The Java clients as a service runs them: each argument ROLE=FILE is a client with the properties in FILE, which
// produces, consumes or asks until the process is killed. One JSON line for each record it has acknowledged or read, for
// each answer (with the seconds it took) and for each error. Of FILE's properties `kind`, `topic` and `name` are ours.

import java.io.FileReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class LongLived {
    private static final long EVERY_MS = 50;
    private static final long ASK_EVERY_MS = 200;
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    private interface Work {
        void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        for (String argument : arguments) {
            String who = argument.substring(0, argument.indexOf('='));
            Properties properties = new Properties();
            try (FileReader file = new FileReader(argument.substring(who.length() + 1), StandardCharsets.UTF_8)) {
                properties.load(file);
            }
            Work work = work(who, properties);
            new Thread(() -> forever(who, work), who).start();
        }
    }

    private static Work work(String who, Properties properties) throws ReflectiveOperationException {
        String kind = (String) properties.remove("kind");
        String topic = (String) properties.remove("topic");
        String name = (String) properties.remove("name");
        switch (kind) {
            case "producer":
                return producer(who, topic, name, properties);
            case "consumer":
                return consumer(who, topic, properties);
            case "share":
                return share(who, topic, properties);
            case "admin":
                Admin admin = Admin.create(properties);
                return () -> ask(who, admin);
            case "fresh-admin":
                return () -> {
                    try (Admin fresh = Admin.create(properties)) {
                        ask(who, fresh);
                    }
                };
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    private static Work producer(String who, String topic, String name, Properties properties) {
        KafkaProducer<String, String> producer =
            new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
        long[] number = {0};
        return () -> {
            String value = name + "-" + number[0]++;
            producer.send(new ProducerRecord<>(topic, value), (metadata, error) -> {
                if (error == null) {
                    say(who, "acked", value, 0);
                } else {
                    say(who, "error", "not delivered: " + error, 0);
                }
            });
            Thread.sleep(EVERY_MS);
        };
    }

    private static Work consumer(String who, String topic, Properties properties) {
        KafkaConsumer<String, String> consumer =
            new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(topic));
        return () -> {
            for (ConsumerRecord<String, String> read : consumer.poll(Duration.ofMillis(200))) {
                say(who, "consumed", read.value(), 0);
            }
        };
    }

    // By its name: this is compiled with the oldest library, which has no share groups.
    private static Work share(String who, String topic, Properties properties) throws ReflectiveOperationException {
        Class<?> type = Class.forName("org.apache.kafka.clients.consumer.KafkaShareConsumer");
        Object consumer = type.getConstructor(Properties.class, Deserializer.class, Deserializer.class)
            .newInstance(properties, new StringDeserializer(), new StringDeserializer());
        type.getMethod("subscribe", Collection.class).invoke(consumer, List.of(topic));
        Method poll = type.getMethod("poll", Duration.class);
        return () -> {
            for (ConsumerRecord<?, ?> read : (ConsumerRecords<?, ?>) poll.invoke(consumer, Duration.ofMillis(200))) {
                say(who, "consumed", (String) read.value(), 0);
            }
        };
    }

    private static void ask(String who, Admin admin) throws Exception {
        long begun = System.nanoTime();
        String cluster = null;
        try {
            cluster = admin.describeCluster().clusterId().get();
        } finally {
            say(who, cluster == null ? "failed" : "answered", cluster, (System.nanoTime() - begun) / 1e9);
        }
        Thread.sleep(ASK_EVERY_MS);
    }

    private static void forever(String who, Work work) {
        while (true) {
            try {
                work.run();
            } catch (Exception error) {
                say(who, "error", error.toString(), 0);
            }
        }
    }

    private static void say(String who, String event, String value, double seconds) {
        String text = value == null ? "" : value.replaceAll("[\\\\\"\\p{Cntrl}]", "'");
        double at = System.currentTimeMillis() / 1e3;
        // In one piece: the library's own log goes to the same file.
        OUT.print(String.format(
            Locale.ROOT,
            "{\"at\": %.3f, \"who\": \"%s\", \"event\": \"%s\", \"value\": \"%s\", \"seconds\": %.3f}\n",
            at, who, event, text, seconds));
        OUT.flush();
    }
}
