/** What the platform of the linked device offers to tests, and who is on it. */
import type { BinaryNode, proto } from "baileys";
import type { WebSocket } from "ws";
import type { FakePlatform } from "../base.ts";
import type { LinkedDevice } from "./keys.ts";
import type { Registering } from "./pairing.ts";
import type { Phone } from "./phone.ts";

export const OWNER = "+4915110000001";
export const PERSON = "+4915110000002";
export const STRANGER = "+4915110000003";
export const GROUP = "120363000000000001@g.us";

/** A message that a person sees. */
export interface Seen {
  readonly by: string;
  readonly id: string;
  readonly chat: string;
  readonly text: string;
  readonly message: proto.IMessage;
}

export interface WebPlatform extends FakePlatform {
  readonly rootKey: string;
  /** What people see, each message once. */
  readonly seen: readonly Seen[];
  readonly sent: readonly { readonly text: string }[];
  /** Messages that came again with an id that was seen. */
  readonly repeated: number;
  /** What a session could not read: a broken chat. */
  readonly broken: readonly string[];
  readonly violations: readonly string[];
  readonly retries: number;
  readonly reads: readonly { readonly id: string; readonly to: string }[];
  readonly typing: readonly string[];
  readonly files: Map<string, Uint8Array>;
  /** Messages that the linked device has not confirmed. */
  readonly unconfirmed: number;
  readonly isLinked: boolean;
  readonly isConnected: boolean;
  /** Secret halves of the linked device, which the platform does not know; public ones stand for them where it was linked by a code. */
  readonly deviceKeys: readonly Buffer[];
  readonly logins: number;
  person(number: string): Phone;
  /** The owner scans the code of an account that is being linked. */
  scan(code: string): void;
  /** The owner types the code. */
  type(code: string): Promise<void>;
  write(message: {
    from: string;
    text?: string;
    id?: string;
    atMs?: number;
    group?: boolean;
    content?: proto.IMessage;
  }): Promise<string>;
  /** The owner writes on the phone, to another person or to themselves. */
  writeOwn(message: { text: string; id?: string; to?: string; atMs?: number }): Promise<void>;
  /** People get nothing of the device's messages until it is released. `arrived`: one waits. */
  hold(): { readonly arrived: Promise<void>; release(): void };
  /** Ends every connection. */
  disconnect(): void;
  logOut(): void;
  /** Ends it with a stream error, as `conflict` or `failure`. */
  fail(node: BinaryNode): void;
  /** A device that is linked already, without a code. */
  adopt(): Promise<Record<string, unknown>>;
  /** What `adopt` resolved with last. */
  readonly adopted: Record<string, unknown> | undefined;
}

export interface Connection extends Registering {
  readonly ws: WebSocket;
  /** The device has logged in. */
  isReady: boolean;
  /** The device has asked for its messages: those that wait come first. */
  isActive: boolean;
}

export interface PlatformState {
  device: LinkedDevice | undefined;
  adopted: Record<string, unknown> | undefined;
  retries: number;
  logins: number;
  held: { readonly arrived: PromiseWithResolvers<void>; readonly released: PromiseWithResolvers<void> } | undefined;
}
