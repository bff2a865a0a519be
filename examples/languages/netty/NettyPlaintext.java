// SPDX-License-Identifier: MIT
//
// One text over HTTP with Netty: java NettyPlaintext PORT. One event loop on the selectors of the JDK, and
// Netty's codec of HTTP/1.1. There is no field Date: Netty's codec writes none by itself.
//
// Left out on purpose: limits, deadlines, logging, an orderly stop, other paths, bodies of requests.
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;

public final class NettyPlaintext {
    private static final byte[] TEXT = "Hello, World!".getBytes(StandardCharsets.US_ASCII);

    private static final class Answer extends SimpleChannelInboundHandler<HttpObject> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
            if (!(part instanceof HttpRequest)) return;
            ByteBuf body = Unpooled.wrappedBuffer(TEXT);
            FullHttpResponse reply =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
            reply.headers().set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.TEXT_PLAIN);
            reply.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, TEXT.length);
            context.write(reply);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        new ServerBootstrap()
            .group(loop)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, 4096)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(
                        new HttpServerCodec(), new HttpServerKeepAliveHandler(), new Answer());
                }
            })
            .bind("127.0.0.1", Integer.parseInt(arguments[0]))
            .sync()
            .channel()
            .closeFuture()
            .sync();
    }
}
