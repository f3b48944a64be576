import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Transactional producers that do what each line of the input orders, and answer each by a line: "ok", or the kind of
 * the exception. An order has the producer's name and what it is to do; its settings come with "start".
 */
public class Transactions {
    private static final Map<String, KafkaProducer<String, String>> PRODUCERS = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            System.out.println(outcome(new ObjectMapper().readTree(line)));
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static String outcome(JsonNode order) {
        try {
            obey(order);
            return "ok";
        } catch (Exception error) {
            Throwable told = error instanceof java.util.concurrent.ExecutionException ? error.getCause() : error;
            return told.getClass().getSimpleName();
        }
    }

    private static void obey(JsonNode order) throws Exception {
        KafkaProducer<String, String> producer = PRODUCERS.get(order.get("producer").asText());
        switch (order.get("what").asText()) {
            case "start":
                Properties properties = new Properties();
                order.get("settings").fields().forEachRemaining(one -> properties.put(one.getKey(), one.getValue().asText()));
                producer = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
                PRODUCERS.put(order.get("producer").asText(), producer);
                producer.initTransactions();
                break;
            case "begin":
                producer.beginTransaction();
                break;
            case "send":
                producer.send(new ProducerRecord<>(order.get("topic").asText(), 0, "key", order.get("value").asText())).get();
                break;
            case "offsets":
                producer.sendOffsetsToTransaction(
                    Map.of(new TopicPartition(order.get("topic").asText(), 0), new OffsetAndMetadata(1)),
                    new ConsumerGroupMetadata(order.get("group").asText()));
                break;
            case "commit":
                producer.commitTransaction();
                break;
            case "abort":
                producer.abortTransaction();
                break;
            default:
                throw new IllegalArgumentException(order.toString());
        }
    }
}
