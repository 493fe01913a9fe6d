import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.ResultKind;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Runs scripts in batch mode, statement by statement. Prints a JSON object after each statement of the last script,
 * with its rows, as calve does with --output jsonl.
 */
public class FlinkScript {
    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what a library prints is no result
        Configuration conf = new Configuration();
        conf.setString("parallelism.default", Integer.toString(Runtime.getRuntime().availableProcessors()));
        conf.setString("table.local-time-zone", "UTC");
        EnvironmentSettings settings = EnvironmentSettings.newInstance().inBatchMode().withConfiguration(conf).build();
        TableEnvironment environment = TableEnvironment.create(settings);
        for (String script : args) {
            for (String sql : statements(Files.readString(Path.of(script)))) {
                String[] words = sql.split("\\s*=\\s*|\\s+", 3);
                if (words[0].equals("SET")) {
                    environment.getConfig().set(words[1].replace("'", ""), words[2].replace("'", ""));
                    continue;
                }
                TableResult result = environment.executeSql(sql);
                List<String> rows = new ArrayList<>();
                if (result.getResultKind() == ResultKind.SUCCESS_WITH_CONTENT && !words[0].matches("INSERT|EXECUTE")) {
                    try (CloseableIterator<Row> found = result.collect()) {
                        while (found.hasNext()) {
                            rows.add(json(found.next()));
                        }
                    }
                } else {
                    result.await();
                }
                if (script == args[args.length - 1]) {
                    out.println("{\"rows\":[" + String.join(",", rows) + "]}");
                }
            }
        }
        System.exit(0);
    }

    /** A statement ends with a line that ends in a semicolon, a statement set with its END. */
    static List<String> statements(String text) {
        List<String> found = new ArrayList<>();
        StringBuilder sql = new StringBuilder();
        for (String line : text.lines().filter(line -> !line.startsWith("--")).toList()) {
            sql.append(line).append('\n');
            boolean set = sql.toString().strip().startsWith("EXECUTE STATEMENT SET");
            if (line.endsWith(";") && (!set || line.startsWith("END"))) {
                String whole = sql.toString().strip();
                found.add(whole.substring(0, whole.length() - 1));
                sql.setLength(0);
            }
        }
        return found;
    }

    static String json(Row row) {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < row.getArity(); i++) {
            Object value = row.getField(i);
            values.add(value == null ? "null" : "\"" + value.toString().replace("\"", "\\\"") + "\"");
        }
        return "[" + String.join(",", values) + "]";
    }
}
