// The Java clients in the cells of the error conformance table: conformance.py says what the argument and lines mean.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class Conformance {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    private interface Work {
        void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        JsonNode order = JSON.readTree(arguments[0]);
        ExecutorService cells = Executors.newFixedThreadPool(order.get("at_once").asInt());
        List<Future<?>> running = new ArrayList<>();
        for (JsonNode cell : order.get("cells")) {
            running.add(cells.submit(() -> new Cell(order, cell).run()));
        }
        for (Future<?> one : running) {
            one.get();
        }
        Runtime.getRuntime().halt(0); // whatever still hangs
    }

    private static final class Cell {
        private final JsonNode cell;
        private final String bootstrap;
        private final long deadlineMs;
        private final List<Map<String, Object>> steps = new ArrayList<>();

        Cell(JsonNode order, JsonNode cell) {
            this.cell = cell;
            bootstrap = order.get("bootstrap").asText();
            deadlineMs = order.get("deadline").asLong() * 1000;
        }

        void run() {
            if (said("work").equals("transaction")) {
                transact();
            } else {
                join();
            }
            try {
                OUT.print(JSON.writeValueAsString(Map.of("cell", said("name"), "steps", steps)) + "\n");
            } catch (java.io.IOException error) {
                throw new IllegalStateException(error);
            }
        }

        private void transact() {
            Transactional producer = new Transactional();
            boolean begun = step("init", producer::init);
            if (begun && step("transaction", () -> producer.transact("first"))) {
                step("close", producer::close);
                return;
            }
            boolean abortable = begun || cell.get("abortable").asBoolean();
            boolean aborted = abortable && step("abort", producer::abort);
            boolean again = step("again", () -> {
                if (!begun && !aborted) { // after an abort it is ready
                    producer.init();
                }
                producer.transact("again");
            });
            step("close", producer::close);
            if (!again) {
                Transactional another = new Transactional();
                step("anew", () -> {
                    another.init();
                    another.transact("anew");
                });
                step("close", another::close);
            }
        }

        private void join() {
            Reading consumer = new Reading();
            boolean read = step("read", () -> consumer.read(deadlineMs));
            if (read && step("commit", consumer::commit)) {
                step("close", consumer::close);
                return;
            }
            boolean again = step("again", () -> consumer.again(deadlineMs / 2));
            step("close", consumer::close);
            if (!again) {
                Reading another = new Reading();
                step("anew", () -> {
                    another.read(deadlineMs);
                    another.commit();
                });
                step("close", another::close);
            }
        }

        // In a thread of the step's object, which is the only one that uses a consumer.
        private boolean step(String name, Work work) {
            ExecutorService thread = Executors.newSingleThreadExecutor();
            Map<String, Object> told = new LinkedHashMap<>();
            told.put("step", name);
            Throwable error = null;
            try {
                thread.submit(() -> {
                    work.run();
                    return null;
                }).get(deadlineMs, TimeUnit.MILLISECONDS);
            } catch (ExecutionException raised) {
                error = raised.getCause();
            } catch (TimeoutException | InterruptedException late) {
                error = late;
            }
            thread.shutdown();
            boolean hangs = error instanceof TimeoutException;
            told.put("ok", error == null);
            told.put("at", System.currentTimeMillis() / 1e3);
            told.put("error", error == null ? "" : hangs ? "hangs" : error.getClass().getSimpleName());
            told.put("says", error == null || hangs ? "" : kinds(error));
            steps.add(told);
            return error == null;
        }

        private String kinds(Throwable error) {
            List<String> kinds = new ArrayList<>();
            // From 4.1 on: KIP-1050's own types.
            for (Class<?> of = error.getClass(); of != null; of = of.getSuperclass()) {
                switch (of.getSimpleName()) {
                    case "TransactionAbortableException" -> kinds.add("abortable");
                    case "RefreshRetriableException" -> kinds.add("refresh-retriable");
                    case "ApplicationRecoverableException" -> kinds.add("application-recoverable");
                    case "InvalidConfigurationException" -> kinds.add("invalid-configuration");
                    default -> { }
                }
            }
            if (error instanceof RetriableException) {
                kinds.add("retriable");
            }
            if (error.getCause() != null) {
                kinds.add("caused by " + error.getCause().getClass().getSimpleName());
            }
            return String.join(", ", kinds);
        }

        private String said(String name) {
            return cell.get(name).asText();
        }

        private Properties settings() {
            Properties settings = new Properties();
            settings.put("bootstrap.servers", bootstrap);
            settings.put("client.id", said("name"));
            return settings;
        }

        private final class Transactional {
            private final KafkaProducer<String, String> producer;

            Transactional() {
                Properties settings = settings();
                settings.put("transactional.id", said("transactional_id"));
                settings.put("max.block.ms", String.valueOf(deadlineMs * 8 / 10));
                producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
            }

            void init() {
                producer.initTransactions();
            }

            void transact(String value) throws Exception {
                producer.beginTransaction();
                try {
                    producer.send(new ProducerRecord<>(said("topic"), 0, null, value)).get();
                } catch (ExecutionException error) {
                    throw error.getCause() instanceof Exception known ? known : error;
                }
                if (cell.get("offsets").asBoolean()) {
                    producer.sendOffsetsToTransaction(
                        Map.of(new TopicPartition(said("topic"), 0), new OffsetAndMetadata(1)),
                        new ConsumerGroupMetadata(said("group")));
                }
                producer.commitTransaction();
            }

            void abort() {
                producer.abortTransaction();
            }

            void close() {
                producer.close(Duration.ofSeconds(1));
            }
        }

        private final class Reading {
            private final KafkaConsumer<String, String> consumer;
            private boolean hasRead;

            Reading() {
                Properties settings = settings();
                settings.put("group.id", said("group"));
                settings.put("auto.offset.reset", "earliest");
                settings.put("enable.auto.commit", "false");
                settings.put("session.timeout.ms", "6000");
                settings.put("heartbeat.interval.ms", "2000");
                consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
                consumer.subscribe(List.of(said("topic")));
            }

            void read(long milliseconds) throws TimeoutException {
                long end = System.currentTimeMillis() + milliseconds;
                while (!poll()) {
                    if (System.currentTimeMillis() > end) {
                        throw new TimeoutException();
                    }
                }
            }

            private boolean poll() {
                hasRead |= !consumer.poll(Duration.ofMillis(200)).isEmpty();
                return hasRead;
            }

            void commit() {
                consumer.commitSync();
            }

            // Reads, unless there is a record already, and commits, whatever fails meanwhile.
            void again(long milliseconds) throws Exception {
                long end = System.currentTimeMillis() + milliseconds;
                while (true) {
                    try {
                        if (poll()) {
                            commit();
                            return;
                        }
                    } catch (RuntimeException error) {
                        if (System.currentTimeMillis() > end) {
                            throw error;
                        }
                    }
                    if (System.currentTimeMillis() > end) {
                        throw new TimeoutException();
                    }
                }
            }

            void close() {
                consumer.close(Duration.ofSeconds(1));
            }
        }
    }
}
