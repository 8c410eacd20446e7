/** What belongs to the account beside its calls: its phone number, and what was recorded. */
import type { Json } from "@svc/contract";
import type { PlatformReply } from "../base.ts";
import { notFound } from "./errors.ts";
import { type VoiceForm, valueOf } from "./parameters.ts";
import { sidOf } from "./sid.ts";

export interface VoiceNumber {
  voiceUrl: string;
  statusCallback: string | undefined;
}

export interface VoiceAccount {
  readonly number: VoiceNumber;
  /** By SID. */
  readonly recordings: Map<string, Uint8Array>;
  /** Recordings that are announced, and not there yet. */
  readonly unfinished: Set<string>;
  /** Recordings that lead elsewhere. */
  readonly moved: Map<string, string>;
  describe(): PlatformReply;
  /** The numbers that contain these digits. */
  findNumbers(wanted: string): PlatformReply;
  setNumber(sid: string, form: VoiceForm): PlatformReply;
  /** `RE….mp3`, `.wav`, or `.json` for what is known of it. */
  recording(file: string): PlatformReply;
}

export function createAccount(accountSid: string, own: string): VoiceAccount {
  const number: VoiceNumber = { voiceUrl: "", statusCallback: undefined };
  const numberSid = sidOf("PN");
  const recordings = new Map<string, Uint8Array>();
  const [unfinished, moved] = [new Set<string>(), new Map<string, string>()];

  const numberJson = (): Json => ({
    sid: numberSid,
    account_sid: accountSid,
    phone_number: own,
    friendly_name: own,
    voice_url: number.voiceUrl,
    voice_method: "POST",
    status_callback: number.statusCallback ?? "",
  });

  return {
    number,
    recordings,
    unfinished,
    moved,
    describe: () => ({
      json: {
        sid: accountSid,
        friendly_name: "Lucky Shrub",
        status: "active",
        type: "Full",
        owner_account_sid: accountSid,
      },
    }),
    findNumbers: (wanted) => ({
      json: { incoming_phone_numbers: own.includes(wanted) ? [numberJson()] : [], page: 0 },
    }),
    setNumber(sid, form) {
      if (sid !== numberSid) throw notFound(sid);
      number.voiceUrl = valueOf(form, "VoiceUrl") ?? number.voiceUrl;
      number.statusCallback = valueOf(form, "StatusCallback") ?? number.statusCallback;
      return { json: numberJson() };
    },
    recording(file) {
      const [sid = "", extension] = file.split(".");
      const target = moved.get(sid);
      if (target !== undefined) return { status: 302, headers: { location: target } };
      const bytes = recordings.get(sid);
      const status = unfinished.has(sid) ? "processing" : "completed";
      if (!bytes) throw notFound(file);
      if (extension === "json") return { json: { sid, account_sid: accountSid, status, duration: "2" } };
      if (status === "processing") throw notFound(file);
      return { headers: { "content-type": extension === "mp3" ? "audio/mpeg" : "audio/x-wav" }, bytes };
    },
  };
}
