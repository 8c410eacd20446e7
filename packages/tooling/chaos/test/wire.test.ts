// Who said something is told by the wire it came over: one that loses what a killed life had sent, or hides a reset, lies.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { startWire } from "../src/fixture/wire.ts";

interface Far extends AsyncDisposable {
  readonly url: string;
  readonly accepted: Promise<Socket>;
}

async function far(): Promise<Far> {
  const { promise: accepted, resolve } = Promise.withResolvers<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => resolve(socket.on("error", () => {})));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted,
    [Symbol.asyncDispose]: async () => {
      server.close();
      (await accepted).destroy();
    },
  };
}

const near = (origin: string): Socket => connect({ host: "127.0.0.1", port: Number(new URL(origin).port) });

test("what was written before the end arrives, whole", async () => {
  await using server = await far();
  const wire = await startWire(server.url);
  const socket = near(wire.origin);
  const said = "x".repeat(100_000);
  socket.end(said);
  const chunks: Buffer[] = [];
  for await (const chunk of await server.accepted) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).toString()).toBe(said);
  await wire.cut();
});

test("a reset of the platform is one for the daemon", async () => {
  await using server = await far();
  const wire = await startWire(server.url);
  const socket = near(wire.origin);
  socket.write("hello");
  (await server.accepted).once("data", function (this: Socket) {
    this.resetAndDestroy();
  });
  const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
  expect(error.code).toBe("ECONNRESET");
  await wire.cut();
});

test("cut, it refuses; fixed, it leads there again", async () => {
  await using server = await far();
  const wire = await startWire(server.url);
  await wire.cut();
  const [error] = (await once(near(wire.origin), "error")) as [NodeJS.ErrnoException];
  expect(error.code).toBe("ECONNREFUSED");
  await wire.fix();
  near(wire.origin).end("hello");
  const [said] = (await once(await server.accepted, "data")) as [Buffer];
  expect(said.toString()).toBe("hello");
  await wire.cut();
});
