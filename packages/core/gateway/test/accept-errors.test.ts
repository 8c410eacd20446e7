// A connection that could not be accepted was an error of the server, and one that nobody listened to ended the process.
import { createServer } from "node:http";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { expect, test } from "vitest";
import { outliveAcceptErrors } from "../src/http/connections.ts";

test("they end nothing, and a thousand a second are one line a minute that counts them", async () => {
  const clock = fakeClock();
  const log = captureLogger();
  const server = createServer();
  const refuse = (code: string) => server.emit("error", Object.assign(new Error("accept"), { code }));
  expect(() => refuse("EMFILE")).toThrow("accept");
  outliveAcceptErrors(server, clock, log);
  for (let count = 0; count < 1000; count += 1) refuse("EMFILE");
  expect(log.lines).toMatchObject([{ level: "error", fields: { cause: "EMFILE", refused: 1 } }]);
  await clock.advance(59_999);
  refuse("ENOBUFS");
  expect(log.lines).toHaveLength(1);
  await clock.advance(1);
  refuse("ENOBUFS");
  expect(log.lines[1]).toMatchObject({ fields: { cause: "ENOBUFS", refused: 1001 } });
});
