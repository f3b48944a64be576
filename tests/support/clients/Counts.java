// A Kafka Streams application: how many records there are of each key so far, as "key=count" for each record.
// Arguments: a file of properties, the topic that it reads, the topic that it writes. It runs until it is killed.

import java.io.FileReader;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.KStream;

public class Counts {
    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        try (FileReader file = new FileReader(arguments[0], StandardCharsets.UTF_8)) {
            properties.load(file);
        }
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> records = builder.stream(arguments[1]);
        records.groupByKey()
            .count()
            .toStream()
            .map((key, count) -> KeyValue.pair(key, key + "=" + count))
            .to(arguments[2]);
        KafkaStreams streams = new KafkaStreams(builder.build(), properties);
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
            return null;
        });
        streams.start();
    }
}
