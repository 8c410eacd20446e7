/** Who asks to verify this device: the machine drops what a device begins that it does not know. */
import type { FeatureContext, Json } from "@svc/contract";
import { type Fields, fieldsOf, wordOf } from "@svc/kit";
import { type Crypto, type MachineRequest, userIdIn } from "./crypto.ts";

export interface Askers {
  /** People who have asked in a room. */
  readonly inRooms: ReadonlySet<string>;
  /** Comparisons that a device began without a request before them, by their ids, and whose device it is. */
  readonly starts: ReadonlyMap<string, string>;
  /** Before the machine is handed these. Throws as `MatrixApi.call`. */
  expect(toDevice: readonly Json[], signal: AbortSignal): Promise<void>;
  /** Hands the machine an event of a verification in a room; see `isVerification` of `verification.ts`. Throws as `MatrixApi.call`. */
  heard(roomId: string, event: Fields, signal: AbortSignal): Promise<void>;
}

export interface AskersDeps extends Pick<Crypto, "machine" | "wasm" | "post"> {
  /** Whose devices may ask without a room. */
  readonly people: readonly string[];
  readonly log: FeatureContext["log"];
}

const MOST_IN_ROOMS = 100;
const MOST_STARTS = 100;
/** What a device may begin a verification with. */
const BEGINS: ReadonlySet<string> = new Set(["m.key.verification.request", "m.key.verification.start"]);

export function createAskers({ machine, wasm, post, people, log }: AskersDeps): Askers {
  const inRooms = new Set<string>();
  const starts = new Map<string, string>();
  const mayAsk = new Set(people);

  const learnDevices = async (sender: string, signal: AbortSignal): Promise<void> => {
    const user = userIdIn(wasm, sender);
    if (user === undefined) return;
    await machine.updateTrackedUsers([user]);
    await post(machine.queryKeysForUsers([new wasm.UserId(sender)]) as MachineRequest, signal);
  };

  return {
    inRooms,
    starts,
    async expect(toDevice, signal) {
      const begun = toDevice
        .map(fieldsOf)
        .filter(({ type, sender }) => BEGINS.has(String(type)) && mayAsk.has(String(sender)));
      for (const sender of new Set(begun.map((event) => String(event["sender"])))) await learnDevices(sender, signal);
      for (const { type, sender, content } of begun) {
        const id = wordOf(fieldsOf(content)["transaction_id"]);
        if (type !== "m.key.verification.start" || id === undefined) continue;
        starts.set(id, String(sender));
        for (const oldest of starts.keys()) if (starts.size > MOST_STARTS) starts.delete(oldest);
      }
    },
    async heard(roomId, event, signal) {
      const sender = String(event["sender"]);
      if (userIdIn(wasm, sender) === undefined) return;
      if (event["type"] === "m.room.message") {
        inRooms.delete(sender);
        inRooms.add(sender);
        for (const oldest of inRooms) if (inRooms.size > MOST_IN_ROOMS) inRooms.delete(oldest);
        await learnDevices(sender, signal);
      }
      try {
        // It throws before there is a promise where an event lacks a field.
        await machine.receiveVerificationEvent(JSON.stringify(event), new wasm.RoomId(roomId));
      } catch {
        log.debug("an event of a verification can't be read", { channel: "federated" });
      }
    },
  };
}
