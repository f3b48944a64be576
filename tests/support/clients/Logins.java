// A process of Java's clients that logs in in several ways. The argument is JSON, as logins.py has it, with Kafka's own
// properties as `security`; one JSON line has what came of each, and what its user is told.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class Logins {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long PATIENCE_MS = 60_000;
    // Each login mostly waits: Java's clients wait for 100 ms where others ask again at once.
    private static final int AT_A_TIME = 4;

    private interface Call {
        Object of(JsonNode order) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        JsonNode orders = JSON.readTree(arguments[0]);
        Map<String, Object> said = new TreeMap<>();
        said.put("accepted", each(orders.get("accepted"), Logins::work));
        said.put("refused", each(orders.get("refused"), Logins::refusal));
        System.out.println(JSON.writeValueAsString(said));
        System.exit(0);
    }

    private static Map<String, Object> each(JsonNode orders, Call call) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME);
        Map<String, Future<Object>> running = new TreeMap<>();
        orders.fields().forEachRemaining(
            order -> running.put(order.getKey(), threads.submit(() -> call.of(order.getValue()))));
        Map<String, Object> results = new TreeMap<>();
        for (Map.Entry<String, Future<Object>> one : running.entrySet()) {
            results.put(one.getKey(), one.getValue().get());
        }
        return results;
    }

    // Produces, reads in a group, and does transactions with another group.
    private static Object work(JsonNode order) throws Exception {
        String topic = order.get("topic").asText();
        String group = order.get("group").asText();
        int count = order.get("count").asInt();
        Map<String, Object> result = new TreeMap<>();
        Map<String, List<Integer>> acknowledged = new TreeMap<>();
        try (KafkaProducer<byte[], byte[]> producer = producer(properties(order))) {
            acknowledged.put("plain", produce(producer, topic, "plain", count));
        }
        List<ConsumerRecord<byte[], byte[]>> read = consume(order, group + "-plain", "read_uncommitted", count);
        result.put("plain", compare("plain", acknowledged.get("plain"), read));
        transactions(order, topic, group, count, acknowledged);
        result.put("committed", committed(order, topic, group + "-offsets"));
        read = consume(order, group, "read_committed", 3 * count);
        for (String seed : List.of("first", "aborted", "last")) {
            result.put(seed, compare(seed, acknowledged.get(seed), read));
        }
        return result;
    }

    private static void transactions(
            JsonNode order, String topic, String group, int count, Map<String, List<Integer>> acknowledged)
            throws Exception {
        Properties properties = properties(order);
        properties.put("transactional.id", order.get("transactional_id").asText());
        try (KafkaProducer<byte[], byte[]> producer = producer(properties)) {
            producer.initTransactions();
            for (String seed : List.of("first", "aborted", "last")) {
                producer.beginTransaction();
                acknowledged.put(seed, produce(producer, topic, seed, count));
                producer.sendOffsetsToTransaction(
                    Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(seed.length())),
                    new ConsumerGroupMetadata(group + "-offsets"));
                if (seed.equals("aborted")) {
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
            }
        }
    }

    private static Object refusal(JsonNode order) {
        Properties properties = properties(order);
        properties.put("default.api.timeout.ms", "2000");
        properties.put("request.timeout.ms", "1500");
        try (Admin admin = Admin.create(properties)) {
            admin.describeCluster().clusterId().get();
            return Map.of();
        } catch (ExecutionException | InterruptedException error) {
            Throwable told = error.getCause();
            return Map.of("kind", told.getClass().getSimpleName(), "says", String.valueOf(told.getMessage()));
        }
    }

    private static Properties properties(JsonNode order) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", order.get("bootstrap").asText());
        order.get("security").fields().forEachRemaining(one -> properties.put(one.getKey(), one.getValue().asText()));
        return properties;
    }

    private static KafkaProducer<byte[], byte[]> producer(Properties properties) {
        return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }

    // Returns the numbers of the records that were acknowledged.
    private static List<Integer> produce(KafkaProducer<byte[], byte[]> producer, String topic, String seed, int count)
            throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            sent.add(producer.send(new ProducerRecord<>(topic, key(seed, number), value(seed, number))));
        }
        List<Integer> numbers = new ArrayList<>();
        for (Future<RecordMetadata> one : sent) {
            one.get();
            numbers.add(numbers.size());
        }
        return numbers;
    }

    private static List<ConsumerRecord<byte[], byte[]>> consume(
            JsonNode order, String group, String isolation, int count) {
        List<ConsumerRecord<byte[], byte[]>> read = new ArrayList<>();
        long deadline = System.currentTimeMillis() + PATIENCE_MS;
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(order, group, isolation)) {
            consumer.subscribe(List.of(order.get("topic").asText()));
            while (read.size() < count && System.currentTimeMillis() < deadline) {
                consumer.poll(Duration.ofMillis(200)).forEach(read::add);
            }
            consumer.commitSync();
        }
        return read;
    }

    private static long committed(JsonNode order, String topic, String group) {
        TopicPartition partition = new TopicPartition(topic, 0);
        try (KafkaConsumer<byte[], byte[]> reader = consumer(order, group, "read_committed")) {
            return reader.committed(Set.of(partition)).get(partition).offset();
        }
    }

    private static KafkaConsumer<byte[], byte[]> consumer(JsonNode order, String group, String isolation) {
        Properties properties = properties(order);
        properties.put("group.id", group);
        properties.put("isolation.level", isolation);
        properties.put("auto.offset.reset", "earliest");
        return new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    // How the records of a seed that were read differ from the acknowledged ones, as records.py says.
    private static Map<String, Integer> compare(
            String seed, List<Integer> acknowledged, List<ConsumerRecord<byte[], byte[]>> read) throws Exception {
        Set<String> keys = new HashSet<>();
        int consumed = 0;
        int wrong = 0;
        for (ConsumerRecord<byte[], byte[]> one : read) {
            String key = new String(one.key(), StandardCharsets.UTF_8);
            if (!key.startsWith(seed + "-")) {
                continue;
            }
            int number = Integer.parseInt(key.substring(seed.length() + 1));
            wrong += Arrays.equals(one.value(), value(seed, number)) ? 0 : 1;
            keys.add(key);
            consumed++;
        }
        int missing = (int) acknowledged.stream().filter(number -> !keys.contains(seed + "-" + number)).count();
        return Map.of("acknowledged", acknowledged.size(), "consumed", consumed, "missing", missing,
            "duplicates", consumed - keys.size(), "wrong", wrong);
    }

    private static byte[] key(String seed, int number) {
        return (seed + "-" + number).getBytes(StandardCharsets.UTF_8);
    }

    // The value that records.py makes.
    private static byte[] value(String seed, int number) throws Exception {
        byte[] block = MessageDigest.getInstance("SHA-256").digest(key(seed, number));
        int times = 2 + (block[0] & 0xff) % 31;
        ByteBuffer value = ByteBuffer.allocate(times * block.length);
        for (int i = 0; i < times; i++) {
            value.put(block);
        }
        return value.array();
    }
}
