// Java producers that send on command: the argument is JSON, each line of standard input is a round, and one
// JSON line answers each. rounds.py, the same for Python's libraries, says what the lines mean.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
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
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.serialization.StringSerializer;

public class Rounds {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    public static void main(String[] arguments) throws Exception {
        JsonNode start = JSON.readTree(arguments[0]);
        ExecutorService threads = Executors.newFixedThreadPool(start.get("producers").asInt());
        List<Sender> senders = new ArrayList<>();
        for (int number = 0; number < start.get("producers").asInt(); number++) {
            senders.add(new Sender(start, number));
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode order = JSON.readTree(line);
            OUT.print(JSON.writeValueAsString(round(order, threads, senders)) + "\n");
            OUT.flush();
        }
        threads.shutdown();
        senders.forEach(sender -> sender.close(Duration.ofSeconds(5)));
        System.exit(0);
    }

    private static Map<String, Object> round(JsonNode order, ExecutorService threads, List<Sender> senders)
            throws Exception {
        long begun = System.nanoTime();
        List<Future<Outcome>> running = new ArrayList<>();
        for (Sender sender : senders) {
            running.add(threads.submit(() -> sender.obey(order)));
        }
        Outcome all = new Outcome();
        for (Future<Outcome> one : running) {
            all.add(one.get());
        }
        Map<String, Object> said = new LinkedHashMap<>();
        said.put("round", order.get("round"));
        said.put("acked", all.acked);
        said.put("failed", all.failed);
        said.put("replaced", all.replaced);
        said.put("seconds", (System.nanoTime() - begun) / 1e9);
        return said;
    }

    private static final class Outcome {
        final List<String> acked = new ArrayList<>();
        final Map<String, String> failed = new LinkedHashMap<>();
        int replaced;

        void add(Outcome other) {
            acked.addAll(other.acked);
            failed.putAll(other.failed);
            replaced += other.replaced;
        }

        void fail(String value, Throwable error) {
            failed.put(value, error.getClass().getSimpleName() + ": " + error.getMessage());
        }
    }

    /** One producer, replaced by a new one when it is dead. */
    private static final class Sender {
        private final Properties properties = new Properties();
        private final String name;
        private final boolean transactional;
        private KafkaProducer<String, String> producer;
        private List<String> open = List.of();

        Sender(JsonNode start, int number) {
            name = start.get("name").asText() + "-" + number;
            transactional = start.path("mode").asText().equals("transactional");
            start.get("settings").fields().forEachRemaining(one -> properties.put(one.getKey(), one.getValue().asText()));
            properties.put("client.id", name);
            if (transactional) {
                properties.put("transactional.id", name);
            }
        }

        Outcome obey(JsonNode order) {
            Outcome outcome = new Outcome();
            List<String> values = new ArrayList<>();
            for (int number = 0; number < order.get("records").asInt(); number++) {
                values.add(name + "-" + order.get("round").asText() + "-" + number);
            }
            if (transactional) {
                transact(order, values, outcome);
            } else {
                deliver(order, values, outcome);
            }
            return outcome;
        }

        // Dead: an error that the documentation of send() calls fatal, or send() itself refuses, as it does after one.
        private void deliver(JsonNode order, List<String> values, Outcome outcome) {
            boolean dead = false;
            Map<String, Future<RecordMetadata>> sent = new LinkedHashMap<>();
            for (String value : values) {
                try {
                    sent.put(value, ready().send(record(order, value)));
                } catch (KafkaException error) {
                    outcome.fail(value, error);
                    dead |= !(error instanceof TimeoutException);
                }
            }
            for (Map.Entry<String, Future<RecordMetadata>> one : sent.entrySet()) {
                try {
                    await(one.getValue());
                    outcome.acked.add(one.getKey());
                } catch (KafkaException error) {
                    outcome.fail(one.getKey(), error);
                    dead |= isFatal(error);
                }
            }
            if (dead) {
                replace(outcome);
            }
        }

        private void transact(JsonNode order, List<String> values, Outcome outcome) {
            String only = order.path("do").asText();
            try {
                if (!only.equals("commit")) {
                    open = values;
                    begin(order);
                }
                if (!only.equals("begin") && !open.isEmpty()) {
                    commit();
                    outcome.acked.addAll(open);
                    open = List.of();
                }
            } catch (KafkaException error) {
                open.forEach(value -> outcome.fail(value, error));
                open = List.of();
                recover(error, outcome);
            }
        }

        private void begin(JsonNode order) {
            ready().beginTransaction();
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            open.forEach(value -> sent.add(producer.send(record(order, value))));
            producer.flush();
            sent.forEach(Sender::await);
        }

        // A commit that ran into its timeout must be asked for again, as the documentation says: it may be done.
        private void commit() {
            try {
                producer.commitTransaction();
            } catch (TimeoutException error) {
                producer.commitTransaction();
            }
        }

        // As the documentation's example: close at three errors, abort at all others; where that fails, close too.
        private void recover(KafkaException error, Outcome outcome) {
            if (producer == null) {
                return; // no new producer was available; the next round tries again
            }
            try {
                if (!isFatal(error)) {
                    producer.abortTransaction();
                    return;
                }
            } catch (KafkaException another) {
                System.err.println(name + " cannot abort: " + another);
            }
            replace(outcome);
        }

        private void replace(Outcome outcome) {
            close(Duration.ZERO);
            producer = null;
            outcome.replaced++;
            try {
                ready();
            } catch (KafkaException error) {
                System.err.println(name + " has no producer: " + error);
            }
        }

        private KafkaProducer<String, String> ready() {
            if (producer == null) {
                KafkaProducer<String, String> made =
                    new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
                if (transactional) {
                    try {
                        made.initTransactions();
                    } catch (KafkaException error) {
                        made.close(Duration.ZERO);
                        throw error;
                    }
                }
                producer = made;
            }
            return producer;
        }

        void close(Duration patience) {
            if (producer != null) {
                producer.close(patience);
            }
        }

        private static ProducerRecord<String, String> record(JsonNode order, String value) {
            return new ProducerRecord<>(order.get("topic").asText(), order.get("partition").asInt(), null, value);
        }

        private static void await(Future<RecordMetadata> sent) {
            try {
                sent.get();
            } catch (ExecutionException error) {
                throw error.getCause() instanceof KafkaException known ? known : new KafkaException(error.getCause());
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
        }

        private static boolean isFatal(KafkaException error) {
            return error instanceof ProducerFencedException
                || error instanceof OutOfOrderSequenceException
                || error instanceof AuthorizationException
                || error instanceof UnsupportedVersionException;
        }
    }
}
