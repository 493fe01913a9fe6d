import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.ResultKind;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.internal.TableResultInternal;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.utils.print.RowDataToStringConverter;
import org.apache.flink.util.CloseableIterator;

/**
 * Runs Flink SQL until standard input ends. Prints a port; each connection to it is a session. A line there is a statement as a JSON string,
 * answered by a JSON object: {"rows": [["1", null], ..]} with the values as Flink's SQL client prints them, {} or {"error": "..."}.
 */
public class FlinkSession {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what a library prints is no answer
        Configuration conf = new Configuration();
        conf.setString("parallelism.default", "1");
        conf.setString("rest.bind-port", "0");
        conf.setString("rest.address", "localhost");
        conf.setString("taskmanager.memory.network.min", "64mb");
        conf.setString("taskmanager.memory.network.max", "64mb");
        conf.setString("taskmanager.memory.managed.size", "128mb");
        // one cluster for the session: a job does not wait for its own to start
        try (MiniCluster cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(conf).setNumTaskManagers(1).setNumSlotsPerTaskManager(4).build())) {
            cluster.start();
            conf.setString("execution.target", "remote");
            conf.setString("rest.address", cluster.getRestAddress().get().getHost());
            conf.setString("rest.port", Integer.toString(cluster.getRestAddress().get().getPort()));
            conf.setString("execution.runtime-mode", "batch");
            conf.setString("table.local-time-zone", "UTC");
            try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
                answers.println(server.getLocalPort());
                Thread listener = new Thread(() -> listen(server, conf));
                listener.setDaemon(true);
                listener.start();
                while (System.in.read() >= 0) { } // until whoever started this ends
            }
        }
        System.exit(0);
    }

    static void listen(ServerSocket server, Configuration conf) {
        try {
            while (true) {
                Socket socket = server.accept();
                new Thread(() -> serve(socket, conf)).start();
            }
        } catch (IOException e) {
            // closed: the program ends
        }
    }

    static void serve(Socket socket, Configuration conf) {
        try (socket) {
            FlinkSession session = new FlinkSession(conf);
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            PrintStream out = new PrintStream(socket.getOutputStream(), true, StandardCharsets.UTF_8);
            for (String line; (line = in.readLine()) != null; ) {
                out.println(JSON.writeValueAsString(session.answer(JSON.readValue(line, String.class))));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    final Configuration conf;
    final List<String> catalogs = new ArrayList<>(); // the statements that a new environment begins with
    TableEnvironment environment;

    FlinkSession(Configuration conf) {
        this.conf = new Configuration(conf);
        environment = TableEnvironment.create(EnvironmentSettings.newInstance().withConfiguration(this.conf).build());
    }

    /** An environment is for one mode and its options; SET belongs to the client. */
    void set(String option, String value) {
        if (!value.equals(conf.getString(option, null))) {
            conf.setString(option, value);
            environment = TableEnvironment.create(EnvironmentSettings.newInstance().withConfiguration(conf).build());
            catalogs.forEach(environment::executeSql);
        }
    }

    Map<String, Object> answer(String sql) {
        Map<String, Object> answer = new LinkedHashMap<>();
        try {
            String[] words = sql.trim().split("\\s*=\\s*|\\s+", 3);
            if (words[0].equalsIgnoreCase("SET")) {
                set(words[1].replace("'", ""), words[2].replace("'", ""));
                return answer;
            }
            TableResultInternal result = (TableResultInternal) environment.executeSql(sql);
            if (sql.startsWith("USE ") || sql.startsWith("CREATE CATALOG ")) {
                catalogs.add(sql);
            }
            if (result.getResultKind() == ResultKind.SUCCESS_WITH_CONTENT && !words[0].equalsIgnoreCase("INSERT")) {
                answer.put("rows", rows(result));
            } else {
                result.await();
            }
        } catch (Throwable t) {
            Throwable cause = t;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            answer.put("error", cause.getClass().getSimpleName() + ": " + cause.getMessage());
        }
        return answer;
    }

    static List<List<String>> rows(TableResultInternal result) throws Exception {
        List<List<String>> rows = new ArrayList<>();
        RowDataToStringConverter strings = result.getRowDataToStringConverter();
        try (CloseableIterator<RowData> data = result.collectInternal()) {
            while (data.hasNext()) {
                RowData row = data.next();
                List<String> values = new ArrayList<>();
                String[] printed = strings.convert(row);
                for (int i = 0; i < printed.length; i++) {
                    values.add(row.isNullAt(i) ? null : printed[i]);
                }
                rows.add(values);
            }
        }
        return rows;
    }
}
