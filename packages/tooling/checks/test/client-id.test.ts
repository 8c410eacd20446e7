// Whoever can make a ClientId can read another client's sessions.
import { expect, test } from "vitest";
import { clientId } from "../src/checks/client-id.ts";
import { judge } from "./judge.ts";

const message = "A value is turned into a ClientId here.";

test.each([
  "const id = text as ClientId;",
  "const id = text as unknown as ClientId;",
  "const row = found as { client: ClientId };",
  "const id = <ClientId>text;",
  "const isId = (text: string): text is ClientId => true;",
  "const schema = custom<ClientId>();",
])("minted in a tool: %s", (text) => {
  const file = "packages/features/tool-a/src/a.ts";
  expect(judge(clientId, { [file]: text })).toEqual([`${file}:1 ${message}`]);
});

test("the gateway mints, the store reads back, tests pretend, everybody passes it on", () => {
  expect(
    judge(clientId, {
      "packages/core/gateway/src/identity.ts": "export const mint = () => bytes as ClientId;",
      "packages/core/store/src/devices/devices.ts": "const device = { clientId: row.client as ClientId };",
      "packages/core/agent/test/turn.test.ts": 'const id = "a" as ClientId;',
      "packages/core/agent/src/turn.ts":
        "const run = (id: ClientId): ClientId => id; const known = new Map<ClientId, 1>();",
    }),
  ).toEqual([]);
  const file = "packages/core/gateway/src/other.ts";
  expect(judge(clientId, { [file]: "\nconst id = text as ClientId;" })).toEqual([`${file}:2 ${message}`]);
});
