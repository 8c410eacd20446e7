/** Who holds a key to this service: devices with their tokens, pages that are signed in, codes that were not used yet. */
import type { Device } from "@svc/store";
import { type Finding, note, ok, warning } from "../finding.ts";
import { counted } from "../settings/exposure.ts";
import type { Check } from "./check.ts";

const IDLE_MS = 90 * 86_400_000;

export const devices: Check = {
  id: "devices",
  security: true,
  async find(machine) {
    const paired = await machine.paired();
    if (paired === undefined) return [warning("devices", "It could not be read who is paired.", "svc devices list")];
    const { pageSessions, kept } = paired;
    // One line each in its index; the keys themselves are kept with their devices.
    const passkeys = kept.get("webauthn") ?? 0;
    return [
      ...(paired.devices.length === 0 ? [ok("devices", "No device is paired.")] : paired.devices.map(deviceLine)),
      ...idleTokens(paired.devices, machine.clock.now()),
      ok("page-sessions", `${counted(pageSessions, "page is", "pages are")} signed in.`),
      ...(passkeys > 0 ? [ok("passkeys", `${counted(passkeys, "passkey is", "passkeys are")} registered.`)] : []),
    ];
  },
};

/** Its id is what `svc devices revoke` takes. */
function deviceLine({ id, name, scope, createdAt, lastSeenAt }: Device): Finding {
  const used = lastSeenAt === undefined ? `never used, paired ${day(createdAt)}` : `last used ${day(lastSeenAt)}`;
  return ok("devices", `${name} (${id.slice(0, 8)}) is ${scope}, ${used}.`);
}

function idleTokens(all: readonly Device[], nowMs: number): Finding[] {
  const operators = all.filter(({ scope }) => scope === "operator");
  if (operators.length === 0) return [];
  const idle = operators.filter(({ createdAt, lastSeenAt }) => nowMs - (lastSeenAt ?? createdAt) > IDLE_MS);
  if (idle.length === 0) return [ok("idle-tokens", "Every operator token was used in the last 90 days.")];
  return idle.map(({ id, name }) =>
    warning("idle-tokens", `The operator token of ${name} was not used for 90 days.`, `svc devices revoke ${id}`),
  );
}

export const pairingCodes: Check = {
  id: "pairing-codes",
  security: true,
  async find(machine) {
    const { report } = await machine.daemon();
    if (report === undefined) return [];
    if (report.pairingCodes === 0) return [ok("pairing-codes", "No pairing code is open.")];
    const message = `${counted(report.pairingCodes, "pairing code")} can be used to come in, for ten minutes at most.`;
    return [note("pairing-codes", message, "use it, or wait until it has expired")];
  },
};

/** UTC. */
const day = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
