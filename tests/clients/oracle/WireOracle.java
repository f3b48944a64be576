// A line-by-line service: kafka-clients parses and writes messages.
//   check NAME VERSION HEX    -> ok HEX JSON   parsed by kafka-clients, written again, and its content
//   versions NAME             -> ok LOWEST HIGHEST
//   build NAME VERSION JSON   -> ok HEX        written by kafka-clients from content
// Anything that kafka-clients refuses -> error REASON

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;

public class WireOracle {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = "ok " + answer(line.split(" ", 4));
            } catch (InvocationTargetException wrapped) {
                answer = "error " + wrapped.getCause();
            } catch (Exception | Error error) {
                answer = "error " + error;
            }
            out.println(answer.replace('\n', ' '));
        }
    }

    private static String answer(String[] words) throws Exception {
        if (words[0].equals("versions")) {
            Message message = (Message) kind(words[1]).getConstructor().newInstance();
            return message.lowestSupportedVersion() + " " + message.highestSupportedVersion();
        }
        short version = Short.parseShort(words[2]);
        String payload = words.length > 3 ? words[3] : "";
        return words[0].equals("check") ? check(words[1], version, payload) : build(words[1], version, payload);
    }

    private static String check(String name, short version, String hex) throws Exception {
        ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(hex));
        Class<?> kind = kind(name);
        Message message = (Message) kind.getConstructor(Readable.class, short.class)
            .newInstance(new ByteBufferAccessor(bytes), version);
        if (bytes.hasRemaining()) {
            throw new IllegalArgumentException(bytes.remaining() + " bytes behind the message");
        }
        return hex(message, version) + " " + json(kind, message, version);
    }

    private static String json(Class<?> kind, Message message, short version) throws Exception {
        return Class.forName(kind.getName() + "JsonConverter")
            .getMethod("write", kind, short.class).invoke(null, message, version).toString();
    }

    private static String build(String name, short version, String json) throws Exception {
        JsonNode node = MAPPER.readTree(json);
        Object message = Class.forName(kind(name).getName() + "JsonConverter")
            .getMethod("read", JsonNode.class, short.class).invoke(null, node, version);
        return hex((Message) message, version);
    }

    private static Class<?> kind(String name) throws ClassNotFoundException {
        String suffix = name.startsWith("ConsumerProtocol") ? "" : "Data";
        return Class.forName("org.apache.kafka.common.message." + name + suffix);
    }

    private static String hex(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        byte[] bytes = new byte[message.size(cache, version)];
        message.write(new ByteBufferAccessor(ByteBuffer.wrap(bytes)), cache, version);
        return HexFormat.of().formatHex(bytes);
    }
}
