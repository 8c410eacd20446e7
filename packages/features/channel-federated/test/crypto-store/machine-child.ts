// The SDK's real OlmMachine on a crypto store, in a process that a test kills: machine-child.ts <file> <sessions> [asks]. Prints what
// it finds, then a line for each session as soon as the SDK says that it is stored; with `asks`, a line of stdin lets it begin each.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { openCryptoStore } from "../../src/crypto-store/crypto-store.ts";

const [, , path = "", sessions = "0", asks] = process.argv;
const input = createInterface(process.stdin);
const permits = input[Symbol.asyncIterator]();
/** Not by process.stdout, which a kill could cut off. */
const tell = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);

const store = await openCryptoStore({
  path,
  key: new Uint8Array(32).fill(7),
  create: true,
  onRefused: ({ code }) => tell({ refused: code }),
});
store.install();
const { DeviceId, OlmMachine, StoreHandle, UserId, initAsync } = await import("@matrix-org/matrix-sdk-crypto-wasm");
await initAsync();
const machine = await OlmMachine.initFromStore(
  new UserId("@bot:hs.test"),
  new DeviceId("DEVICE"),
  await StoreHandle.open("svc", undefined),
);
const { curve25519, ed25519 } = machine.identityKeys;
tell({ identity: [curve25519.toBase64(), ed25519.toBase64()] });
const exported = JSON.parse(await machine.exportRoomKeys(() => true)) as { session_id: string }[];
tell({ found: exported.map((session) => session.session_id) });

for (let n = 0; n < Number(sessions); n += 1) {
  const session = newSession(n);
  if (asks !== undefined) await permits.next();
  try {
    await machine.importExportedRoomKeys(JSON.stringify([session]), () => {});
    tell({ stored: session.session_id });
  } catch {
    tell({ failed: session.session_id });
  }
}
const left = JSON.parse(await machine.exportRoomKeys(() => true)) as unknown[];
tell({ left: left.length });
store.close();
input.close();

/** As a client exports it: https://spec.matrix.org/v1.16/client-server-api/#key-export-format */
function newSession(n: number): { session_id: string } {
  const publicKey = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  // Version, the ratchet's index, the ratchet, the key that signs.
  const sessionKey = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), randomBytes(128), publicKey]);
  const exportedSession = {
    algorithm: "m.megolm.v1.aes-sha2",
    room_id: `!room${n % 5}:hs.test`,
    sender_key: unpadded(randomBytes(32)),
    session_id: unpadded(publicKey),
    session_key: unpadded(sessionKey),
    sender_claimed_keys: { ed25519: unpadded(publicKey) },
    forwarding_curve25519_key_chain: [],
  };
  return exportedSession;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
