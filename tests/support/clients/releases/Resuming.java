// Java's client as its users have it, also those who have not rebuilt for years: a producer, and members of a group.
// It compiles with every release from 0.10.1 to 4.x. Takes servers, topic, which is the group, too, and a count; system
// properties that begin with `client.` are settings of the client. Prints what each of two consumers of the group has
// read, as JSON.

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class Resuming {
    private static final int SECONDS = 60;
    private static final long MILLISECONDS = 200;
    private final String servers;
    private final String topic;

    private Resuming(String servers, String topic) {
        this.servers = servers;
        this.topic = topic;
    }

    public static void main(String[] arguments) throws Exception {
        Resuming client = new Resuming(arguments[0], arguments[1]);
        int count = Integer.parseInt(arguments[2]);
        client.write(0, count);
        List<Integer> first = client.read(count);
        client.write(count, 1);
        System.out.println("[" + first + ", " + client.read(1) + "]");
    }

    private Properties settings() {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", servers);
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith("client.")) {
                settings.put(name.substring("client.".length()), System.getProperty(name));
            }
        }
        return settings;
    }

    private void write(int first, int count) throws Exception {
        Properties settings = settings();
        settings.put("acks", "all");
        String serializer = StringSerializer.class.getName();
        settings.put("key.serializer", serializer);
        settings.put("value.serializer", serializer);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int number = first; number < first + count; number++) {
                String text = String.valueOf(number);
                sent.add(producer.send(new ProducerRecord<>(topic, text, text)));
            }
            for (Future<RecordMetadata> one : sent) {
                one.get(SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    private List<Integer> read(int count) throws Exception {
        Properties settings = settings();
        settings.put("group.id", topic);
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        String deserializer = StringDeserializer.class.getName();
        settings.put("key.deserializer", deserializer);
        settings.put("value.deserializer", deserializer);
        List<Integer> found = new ArrayList<>();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.subscribe(Collections.singletonList(topic));
            while (found.size() < count && System.nanoTime() < deadline) {
                for (ConsumerRecord<String, String> one : polled(consumer)) {
                    found.add(Integer.valueOf(one.value()));
                }
            }
            consumer.commitSync();
        }
        Collections.sort(found);
        return found;
    }

    // By reflection: up to 1.1 there is poll(long) only, and 4.0 has it no more. It goes first, as in an application that
    // was not rebuilt.
    @SuppressWarnings("unchecked")
    private static ConsumerRecords<String, String> polled(KafkaConsumer<String, String> consumer) throws Exception {
        try {
            Method ofOld = KafkaConsumer.class.getMethod("poll", long.class);
            return (ConsumerRecords<String, String>) ofOld.invoke(consumer, MILLISECONDS);
        } catch (NoSuchMethodException since4) {
            Method ofToday = KafkaConsumer.class.getMethod("poll", Duration.class);
            return (ConsumerRecords<String, String>) ofToday.invoke(consumer, Duration.ofMillis(MILLISECONDS));
        }
    }
}
