/**
 * Verification of this device, with another device of the account or a person who may write: the other side scans a QR code, or
 * both compare emoji. https://spec.matrix.org/v1.16/client-server-api/#device-verification
 */
import type { Qr, Sas, VerificationRequest } from "@matrix-org/matrix-sdk-crypto-wasm";
import { type FeatureContext, type Route, SvcError, type Verification, type VerificationState } from "@svc/contract";
import { type Fields, fieldsOf } from "@svc/kit";
import * as v from "valibot";
import { CHANNEL } from "./config.ts";
import type { Crypto, MachineRequest } from "./crypto.ts";

export interface VerificationDeps {
  /** The open machine. Throws CHANNEL_DOWN. */
  readonly crypto: (signal: AbortSignal) => Promise<Crypto>;
  readonly userId: (signal: AbortSignal) => Promise<string>;
  /** Who may ask, by user id, beside the account's own devices and those who ask in a room. */
  readonly people: readonly string[];
  readonly log: FeatureContext["log"];
}

export interface DeviceVerification extends Verification {
  /** Logs requests that have come since it was called last. */
  announce(opened: Crypto, own: string): void;
}

const MOST_ANNOUNCED = 1_000;

/** Older clients begin to compare symbols at once, without a request before it. */
type Flow = VerificationRequest | Sas;

export function createVerification({ crypto, userId, people, log }: VerificationDeps): DeviceVerification {
  let current: Flow | undefined;
  /** The code of `current`: each that is made has a secret of its own. null: the other side scans none. */
  let code: Qr | null | undefined;
  /** The other one, once it has answered. */
  let device: string | undefined;
  const announced = new Set<string>();

  const methodsOf = ({ wasm: { VerificationMethod: method } }: Crypto) => [
    method.SasV1,
    method.QrCodeShowV1,
    method.ReciprocateV1,
  ];

  const sasOf = ({ wasm }: Crypto, flow: Flow): Sas | undefined => {
    const found = flow instanceof wasm.Sas ? flow : flow.getVerification();
    return found instanceof wasm.Sas ? found : undefined;
  };

  const isOver = (flow: Flow): boolean => flow.isDone() || flow.isCancelled() || flow.timedOut();

  const openFlows = (opened: Crypto, own: string): Flow[] => {
    const { machine, wasm, askers } = opened;
    const known = new Set([own, ...people, ...askers.inRooms]);
    const requests = [...known].flatMap((person) => machine.getVerificationRequests(new wasm.UserId(person)));
    const asked = new Set(requests.map(({ flowId }) => flowId));
    const direct = [...askers.starts]
      .filter(([flowId, person]) => known.has(person) && !asked.has(flowId))
      .flatMap(([flowId, person]) => machine.getVerification(new wasm.UserId(person), flowId) ?? [])
      .filter((found) => found instanceof wasm.Sas);
    return [...requests, ...direct].filter((flow) => !isOver(flow));
  };

  /** It was asked for over there, and this device does not take part yet. */
  const isUnanswered = ({ wasm }: Crypto, flow: Flow): boolean =>
    flow instanceof wasm.Sas
      ? !flow.weStarted() && !flow.hasBeenAccepted()
      : !flow.weStarted() && !flow.isPassive() && flow.phase() === wasm.VerificationRequestPhase.Requested;

  const startSymbols = async (opened: Crypto, request: VerificationRequest, signal: AbortSignal): Promise<boolean> => {
    const [, started] = (await request.startSas()) ?? [];
    if (started) await opened.post(started as MachineRequest, signal);
    return started !== undefined;
  };

  /** Does what is ours to do. */
  const goOn = async (opened: Crypto, request: Flow, signal: AbortSignal): Promise<void> => {
    const { wasm } = opened;
    if (request instanceof wasm.Sas) {
      const accepted = isUnanswered(opened, request) ? request.accept() : undefined;
      if (accepted) await opened.post(accepted as MachineRequest, signal);
      return await opened.flush(signal);
    }
    const phase = request.phase();
    const shown = request.getVerification();
    // Taken up once more, by another terminal or page: the code that is on show stays good.
    if (code === undefined && shown instanceof wasm.Qr) code = shown;
    if (isUnanswered(opened, request)) {
      const accepted = request.acceptWithMethods(methodsOf(opened));
      if (accepted) await opened.post(accepted as MachineRequest, signal);
    } else if (phase === wasm.VerificationRequestPhase.Ready) {
      // Without cross-signing keys there is nothing that a code could hold.
      if (code === undefined) code = (await request.generateQrCode().catch(() => undefined)) ?? null;
      if (code === null) await startSymbols(opened, request, signal);
    } else if (phase === wasm.VerificationRequestPhase.Transitioned) {
      const sas = sasOf(opened, request);
      const accepted = sas && !sas.weStarted() && !sas.hasBeenAccepted() ? sas.accept() : undefined;
      if (accepted) await opened.post(accepted as MachineRequest, signal);
    }
    await opened.flush(signal);
  };

  const peerOf = (opened: Crypto, request: Flow): string => {
    const id = (sasOf(opened, request)?.otherDeviceId ?? request.otherDeviceId)?.toString();
    if (request === current) device = id ?? device;
    const shown = request === current ? device : id;
    return request.otherUserId.toString() + (shown === undefined ? "" : `, device ${shown}`);
  };

  const stateOf = (opened: Crypto, request: Flow): VerificationState => {
    const peer = peerOf(opened, request);
    if (request.isDone()) return { stage: "done", peer };
    if (isOver(request)) {
      const info = request instanceof opened.wasm.Sas ? request.cancelInfo() : request.cancelInfo;
      const reason = info?.cancelCode() ?? "timed out";
      return { stage: "cancelled", peer, reason: /^[\w. -]{1,60}$/.test(reason) ? reason : "unknown" };
    }
    const sas = sasOf(opened, request);
    if (sas === undefined && code) return { ...codeState(opened, code), peer };
    const emoji = sas?.canBePresented() === true ? sas.emoji() : undefined;
    if (sas === undefined || emoji === undefined) return { stage: "waiting", peer };
    if (sas.haveWeConfirmed()) return { stage: "confirmed", peer };
    return { stage: "compare", peer, symbols: emoji.map(({ symbol, description }) => ({ symbol, name: description })) };
  };

  const demandCurrent = (): Flow => {
    if (current === undefined) throw new SvcError("CHANNEL_CANNOT", "No verification is under way.");
    return current;
  };

  return {
    announce(opened, own) {
      for (const request of openFlows(opened, own).filter((one) => isUnanswered(opened, one))) {
        if (announced.has(request.flowId) || announced.size >= MOST_ANNOUNCED) continue;
        announced.add(request.flowId);
        const hint = "svc channels verify federated, or Channels in the dashboard";
        log.info("another device asks to verify this one", { channel: CHANNEL, peer: peerOf(opened, request), hint });
      }
    },
    async requests(signal) {
      signal.throwIfAborted();
      const opened = await crypto(signal);
      const waiting = openFlows(opened, await userId(signal)).filter((one) => isUnanswered(opened, one));
      return waiting.map((request) => peerOf(opened, request));
    },
    async begin(signal) {
      signal.throwIfAborted();
      const opened = await crypto(signal);
      const own = await userId(signal);
      const waiting = openFlows(opened, own);
      [device, code] = [undefined, undefined];
      // One that was asked for over there goes first; of those the account's own devices, before whom others must not push themselves.
      const asked = waiting.filter(
        (flow) => !flow.weStarted() && (flow instanceof opened.wasm.Sas || !flow.isPassive()),
      );
      current = asked.findLast(({ otherUserId }) => otherUserId.toString() === own) ?? asked.at(-1);
      if (current === undefined) {
        // One of ours may have been asked of devices that are gone, and before another one came.
        for (const request of waiting) {
          const cancelled = request.cancel();
          if (cancelled) await opened.post(cancelled as MachineRequest, signal);
        }
        await opened.post(opened.machine.queryKeysForUsers([new opened.wasm.UserId(own)]) as MachineRequest, signal);
        const identity = await opened.machine.getIdentity(new opened.wasm.UserId(own));
        if (!(identity instanceof opened.wasm.OwnUserIdentity)) {
          throw new SvcError("CHANNEL_CANNOT", "The account has no cross-signing keys yet.", {
            hint: "Wait until the channel has connected once, then try again.",
          });
        }
        const [request, asked] = await identity.requestVerification(methodsOf(opened));
        await opened.post(asked as MachineRequest, signal);
        current = request;
      }
      await goOn(opened, current, signal);
      return stateOf(opened, current);
    },
    async state(signal) {
      const request = demandCurrent();
      const opened = await crypto(signal);
      await goOn(opened, request, signal);
      return stateOf(opened, request);
    },
    async compare(signal) {
      const request = demandCurrent();
      const opened = await crypto(signal);
      const isStarted =
        request instanceof opened.wasm.Sas ||
        sasOf(opened, request) !== undefined ||
        (await startSymbols(opened, request, signal));
      if (!isStarted) throw new SvcError("CHANNEL_CANNOT", "The other device is not ready to compare symbols.");
      code = null;
      await opened.flush(signal);
      return stateOf(opened, request);
    },
    async answer(matches, signal) {
      const request = demandCurrent();
      const opened = await crypto(signal);
      const sas = sasOf(opened, request);
      const requests: (object | undefined)[] = [];
      if (sas?.canBePresented() === true) {
        if (matches) requests.push(...(await sas.confirm()));
        else requests.push(sas.cancelWithCode("m.mismatched_sas"));
      } else if (sas === undefined && code?.hasBeenScanned() === true) {
        requests.push(matches ? code.confirmScanning() : code.cancelWithCode("m.key_mismatch"));
      } else throw new SvcError("CHANNEL_CANNOT", "There is nothing to compare yet.");
      for (const one of requests) if (one !== undefined) await opened.post(one as MachineRequest, signal);
      await opened.flush(signal);
      return stateOf(opened, request);
    },
  };
}

type CodeState =
  | { readonly stage: "scan"; readonly qr: readonly string[] }
  | { readonly stage: "scanned" | "confirmed" };

function codeState({ wasm }: Crypto, code: Qr): CodeState {
  if (code.hasBeenScanned()) return { stage: "scanned" };
  if (code.state() !== wasm.QrState.Created) return { stage: "confirmed" };
  const modules = code.toQrCode().renderIntoBuffer();
  const size = Math.sqrt(modules.length);
  const qr = Array.from({ length: size }, (_, row) => modules.subarray(row * size, (row + 1) * size).join(""));
  return { stage: "scan", qr };
}

/** Whether it is part of a verification in a room. https://spec.matrix.org/v1.16/client-server-api/#key-verification-framework */
export const isVerification = ({ type, content }: Fields): boolean =>
  typeof type === "string" &&
  (type.startsWith("m.key.verification.") ||
    (type === "m.room.message" && fieldsOf(content)["msgtype"] === "m.key.verification.request"));

/** Verification for the dashboard. */
const VERIFICATION_PATH = "/api/federated/verification";

const PEER = { peer: v.string() };
const STATE = v.variant("stage", [
  v.object({ stage: v.picklist(["waiting", "scanned", "confirmed", "done"]), ...PEER }),
  v.object({ stage: v.literal("scan"), ...PEER, qr: v.array(v.string()) }),
  v.object({
    stage: v.literal("compare"),
    ...PEER,
    symbols: v.array(v.object({ symbol: v.string(), name: v.string() })),
  }),
  v.object({ stage: v.literal("cancelled"), ...PEER, reason: v.string() }),
]);
const STEP = v.variant("step", [
  v.strictObject({ step: v.picklist(["begin", "state", "compare"]) }),
  v.strictObject({ step: v.literal("answer"), matches: v.boolean() }),
]);
const ERRORS = Object.freeze(["CHANNEL_DOWN", "CHANNEL_CANNOT", "CHANNEL_UNAUTHORIZED", "REMOTE_UNREACHABLE"] as const);

export const verificationRoutes = (verification: Verification): Route[] => [
  {
    method: "GET",
    path: VERIFICATION_PATH,
    access: "operate",
    doc: {
      summary: "Lists requests to verify the Matrix device of this service.",
      answers: {
        200: {
          description: "User and device of each request that has no answer yet.",
          body: v.object({ requests: v.array(v.string()) }),
        },
      },
      errors: ERRORS,
    },
    handle: async ({ signal }) => ({ status: 200, body: { requests: await verification.requests(signal) } }),
  },
  {
    method: "POST",
    path: VERIFICATION_PATH,
    access: "operate",
    doc: {
      summary: "Takes one step of verifying the Matrix device of this service.",
      body: STEP,
      answers: {
        200: {
          description: "How the verification stands. Ask for `state` until it is `done` or `cancelled`.",
          body: STATE,
        },
      },
      errors: ERRORS,
    },
    async handle({ body, signal }) {
      const asked = body as v.InferOutput<typeof STEP>;
      const state =
        asked.step === "answer"
          ? await verification.answer(asked.matches, signal)
          : await verification[asked.step](signal);
      return { status: 200, body: { ...state } };
    },
  },
];
