// Whoever was refused an upgrade, or asked for a tunnel, kept the connection for as long as a byte of theirs came now and then:
// Node has let go of such a socket, and none of the server's limits holds for it.
import { connect, createServer, type AddressInfo } from "node:net";
import { fakeClock } from "@svc/testkit/fake-clock";
import { expect, test } from "vitest";
import { endAndLinger } from "../src/http/connections.ts";

test("a client that goes on in drops after its answer is cut, however steadily they come", async () => {
  const clock = fakeClock();
  const cut = Promise.withResolvers<void>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.once("close", () => cut.resolve());
    endAndLinger(socket, "no", clock);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true });
  let text = "";
  client.on("data", (chunk) => (text += chunk.toString())).on("error", () => {});
  await new Promise((resolve) => client.once("end", resolve));
  for (let drop = 0; drop < 4; drop += 1) {
    await new Promise((resolve) => client.write("x", resolve));
    await clock.advance(500);
  }
  await cut.promise;
  expect(text).toBe("no");
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});
