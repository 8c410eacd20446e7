/** A gateway with a device of each scope, for tests of WebSockets. */
import { socketOf } from "./event-stream.ts";
import { Harness, type HarnessOptions } from "./harness.ts";

export async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  const tokens = {
    operator: harness.device("operator"),
    read: harness.device("read"),
    webhook: harness.device("webhook"),
  };
  await harness.start({ ...options, config: { webhook_rate_limit_per_minute: 0, ...options.config } });
  return {
    harness,
    hub: harness.hub,
    clock: harness.clock,
    tokens,
    open: (token = tokens.operator) => socketOf(harness, token),
  };
}

/** A handshake as it goes over the wire. `more`: further headers. */
export const upgradeBytes = (more: string, path = "/ws", method = "GET"): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString("base64")}\r\n${more}\r\n`;
