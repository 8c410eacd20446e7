/**
 * Verification of this device by emoji, with another device of the account or a person who may write.
 * https://spec.matrix.org/v1.16/client-server-api/#short-authentication-string-sas-verification
 */
import { SvcError, type Verification, type VerificationState } from "@svc/contract";
import type { Sas, VerificationRequest } from "@matrix-org/matrix-sdk-crypto-wasm";
import type { Crypto, MachineRequest } from "./crypto.ts";

export interface VerificationDeps {
  /** The open machine. Throws CHANNEL_DOWN. */
  readonly crypto: (signal: AbortSignal) => Promise<Crypto>;
  readonly userId: (signal: AbortSignal) => Promise<string>;
  /** Who may ask, beside the account's own devices. */
  readonly people: readonly string[];
}

export function createVerification({ crypto, userId, people }: VerificationDeps): Verification {
  let current: VerificationRequest | undefined;
  /** The other one, once it has answered. */
  let device: string | undefined;

  const sasOf = ({ wasm }: Crypto, request: VerificationRequest): Sas | undefined => {
    const found = request.getVerification();
    return found instanceof wasm.Sas ? found : undefined;
  };

  /** Does what is ours to do. */
  const goOn = async (opened: Crypto, request: VerificationRequest, signal: AbortSignal): Promise<void> => {
    const { wasm } = opened;
    const phase = request.phase();
    if (phase === wasm.VerificationRequestPhase.Requested && !request.weStarted()) {
      const accepted = request.acceptWithMethods([wasm.VerificationMethod.SasV1]);
      if (accepted) await opened.post(accepted as MachineRequest, signal);
    } else if (phase === wasm.VerificationRequestPhase.Ready) {
      const [, started] = (await request.startSas()) ?? [];
      if (started) await opened.post(started as MachineRequest, signal);
    } else if (phase === wasm.VerificationRequestPhase.Transitioned) {
      const sas = sasOf(opened, request);
      const accepted = sas && !sas.weStarted() && !sas.hasBeenAccepted() ? sas.accept() : undefined;
      if (accepted) await opened.post(accepted as MachineRequest, signal);
    }
    await opened.flush(signal);
  };

  const stateOf = (opened: Crypto, request: VerificationRequest): VerificationState => {
    const { wasm } = opened;
    device = (sasOf(opened, request)?.otherDeviceId ?? request.otherDeviceId)?.toString() ?? device;
    const peer = request.otherUserId.toString() + (device === undefined ? "" : `, device ${device}`);
    if (request.isDone()) return { stage: "done", peer };
    if (request.isCancelled() || request.timedOut()) {
      const reason = request.cancelInfo?.cancelCode() ?? "timed out";
      return { stage: "cancelled", peer, reason: /^[\w. -]{1,60}$/.test(reason) ? reason : "unknown" };
    }
    const sas = request.phase() === wasm.VerificationRequestPhase.Transitioned ? sasOf(opened, request) : undefined;
    const emoji = sas?.canBePresented() === true ? sas.emoji() : undefined;
    if (sas === undefined || emoji === undefined) return { stage: "waiting", peer };
    if (sas.haveWeConfirmed()) return { stage: "confirmed", peer };
    return { stage: "compare", peer, symbols: emoji.map(({ symbol, description }) => ({ symbol, name: description })) };
  };

  const demandCurrent = (): VerificationRequest => {
    if (current === undefined) throw new SvcError("CHANNEL_CANNOT", "No verification is under way.");
    return current;
  };

  return {
    async begin(signal) {
      signal.throwIfAborted();
      const opened = await crypto(signal);
      const own = await userId(signal);
      const waiting = [own, ...people.filter((person) => person.startsWith("@"))]
        .flatMap((person) => opened.machine.getVerificationRequests(new opened.wasm.UserId(person)))
        .filter((request) => !request.isDone() && !request.isCancelled() && !request.timedOut());
      device = undefined;
      // One that was asked for over there goes first.
      current = waiting.findLast((request) => !request.weStarted());
      if (current === undefined) {
        // One of ours may have been asked of devices that are gone, and before another one came.
        for (const request of waiting) {
          const cancelled = request.cancel();
          if (cancelled) await opened.post(cancelled as MachineRequest, signal);
        }
        await opened.post(opened.machine.queryKeysForUsers([new opened.wasm.UserId(own)]) as MachineRequest, signal);
      }
      if (current === undefined) {
        const identity = await opened.machine.getIdentity(new opened.wasm.UserId(own));
        if (!(identity instanceof opened.wasm.OwnUserIdentity)) {
          throw new SvcError("CHANNEL_CANNOT", "The account has no cross-signing keys yet.", {
            hint: "Wait until the channel has connected once, then try again.",
          });
        }
        const [request, asked] = await identity.requestVerification([opened.wasm.VerificationMethod.SasV1]);
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
    async answer(matches, signal) {
      const request = demandCurrent();
      const opened = await crypto(signal);
      const sas = sasOf(opened, request);
      if (sas?.canBePresented() !== true) throw new SvcError("CHANNEL_CANNOT", "There is nothing to compare yet.");
      const cancelled = matches ? undefined : sas.cancelWithCode("m.mismatched_sas");
      const requests = matches ? await sas.confirm() : cancelled ? [cancelled] : [];
      for (const one of requests) await opened.post(one as MachineRequest, signal);
      await opened.flush(signal);
      return stateOf(opened, request);
    },
  };
}
