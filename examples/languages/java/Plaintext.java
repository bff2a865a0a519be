// SPDX-License-Identifier: MIT
//
// One text over HTTP with the server of the JDK (module jdk.httpserver), a thread for each request:
// java Plaintext PORT. It adds the fields Date and Content-Length.
//
// Of its settings TCP_NODELAY is off unless it is asked for, and only 200 connections may be idle.
//
// Left out on purpose: limits, logging, an orderly stop, other paths.
import com.sun.net.httpserver.HttpServer;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

public final class Plaintext {
    private static final int BACKLOG = 4096;
    private static final byte[] TEXT = "Hello, World!".getBytes(StandardCharsets.US_ASCII);

    public static void main(String[] arguments) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("sun.net.httpserver.maxIdleConnections", "10000");
        System.setProperty("sun.net.httpserver.idleInterval", "3600");
        int port = Integer.parseInt(arguments[0]);
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        HttpServer server = HttpServer.create(address, BACKLOG);
        server.setExecutor(Echo.executor());
        server.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "text/plain");
            exchange.sendResponseHeaders(200, TEXT.length);
            try (OutputStream body = exchange.getResponseBody()) {
                body.write(TEXT);
            }
        });
        server.start();
    }
}
