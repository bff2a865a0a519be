// SPDX-License-Identifier: MIT
//
// Echo with a blocking thread for each connection: java Echo PORT.
//
// The threads are virtual from JDK 21 on. They are asked for by name, so that this page compiles with older
// ones, where it has platform threads; otherwise one writes Executors.newVirtualThreadPerTaskExecutor().
//
// Left out on purpose: limits, deadlines, logging, an orderly stop.
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class Echo {
    private static final int BACKLOG = 4096;

    static ExecutorService executor() throws ReflectiveOperationException {
        try {
            return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException older) {
            return Executors.newCachedThreadPool();
        }
    }

    private static void echo(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            socket.getInputStream().transferTo(socket.getOutputStream());
        } catch (IOException gone) {
            // A peer that resets ends its own connection only.
        }
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService executor = executor();
        int port = Integer.parseInt(arguments[0]);
        try (ServerSocket listener = new ServerSocket(port, BACKLOG, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket socket = listener.accept();
                executor.execute(() -> echo(socket));
            }
        }
    }
}
