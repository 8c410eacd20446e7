/** What a channel's package hands to its suite: its platform, its section, and deliveries as the platform makes them. */
import type { Conversation, InboundMedia, SampleDelivery } from "@svc/contract";
import type { PlatformMood } from "../../platforms/mood.ts";

/** A section of the config as TOML gives it. */
export type Section = Readonly<Record<string, unknown>>;

export interface ChannelSubject<Platform extends ChannelPlatform = ChannelPlatform> {
  /** The package's folder. */
  readonly root: string;
  /** Ingress paths of the manifest that belong to other parts of the feature. Default: none. */
  readonly pathsOfOtherParts?: readonly string[];
  /** A fresh platform. */
  readonly platform: () => Promise<Platform>;
  /** A valid section for it with every secret set, in which `deliveries.person` may write and nobody else. */
  readonly config: (platform: Platform) => Section;
  /** Where a message can be sent to. */
  readonly conversation: (platform: Platform) => Omit<Conversation, "channel">;
  /** `gateway.public_url`, for a channel that can't do without. */
  readonly publicUrl?: string;
  /** For a channel with an ingress. */
  readonly deliveries?: DeliverySubject;
  /** For a channel whose messages come in by its `run`: a long connection, polling. */
  readonly arrivals?: ArrivalSubject<Platform>;
  /** Nobody can write to it there: its `run` waits for nothing. */
  readonly onlySends?: true;
  /** For a channel that fetches what messages came with. */
  readonly media?: MediaSubject<Platform>;
  /** For a channel that posts questions with buttons. */
  readonly prompts?: PromptSubject<Platform>;
  /** It makes the platform's formatting of Markdown, so that people see neither its marks nor all of its white space. */
  readonly formats?: true;
  /** The platform has no limit of its own, so that `text.maxChars` is a choice. */
  readonly ownTextLimit?: true;
  /** The platform takes a key: what is sent again with the same `deliveryId` arrives once. */
  readonly idempotent?: true;
  /** What `check` can tell. `reachability`: the platform has no question that needs credentials. Default: credentials. */
  readonly checkProves?: "credentials" | "reachability";
}

/** A fake platform as the suite sees it; `startPlatform` makes most of it. */
export interface ChannelPlatform {
  mood: PlatformMood | ((request: never) => PlatformMood);
  /** All that came, attempts to open a long connection among them. */
  readonly requests: readonly unknown[];
  /** Resolves once the request of this number (from 0) has come. */
  arrived(index: number): Promise<unknown>;
  /** Messages that people would see, oldest first. It enforces what the platform enforces, e.g. the length of a text. */
  readonly sent: readonly PlatformSent[];
  close(): Promise<void>;
}

export interface PlatformSent {
  readonly text: string;
  /** Labels, in order; undefined or empty without buttons. */
  readonly buttons?: readonly string[] | undefined;
}

/** How messages come in by `run`. All of a person's are in one conversation; ids, texts and times are the suite's. */
export interface ArrivalSubject<Platform = ChannelPlatform> {
  /** May write, as the platform tells people. */
  readonly person: string;
  /** May not. */
  readonly stranger: string;
  /** A person writes. Resolves once the platform has it, whether or not the channel is connected. */
  readonly write: (platform: Platform, message: PlatformMessage) => void | Promise<void>;
  /** We ourselves, as the platform repeats it to us; for platforms that do. */
  readonly writeOwn?: (platform: Platform, message: PlatformMessage) => void | Promise<void>;
  /** A person presses a button of the question that was posted last; for channels with `prompts`. */
  readonly press?: (platform: Platform, press: ButtonPress) => void | Promise<void>;
  /** Ends every connection, as a restart of the platform does. It takes new ones. */
  readonly disconnect: (platform: Platform) => void | Promise<void>;
  /** What is written while nobody is connected is lost on this platform: why nothing can be done about it. */
  readonly losesWhileAway?: string;
}

export interface PromptSubject<Platform = ChannelPlatform> {
  /** A genuine delivery of a press on a button of the question that was posted last; for channels with an ingress. */
  readonly pressed?: (platform: Platform, press: ButtonPress, section: Section) => SampleDelivery;
}

export interface ButtonPress extends Omit<PlatformMessage, "text"> {
  readonly approved: boolean;
}

export interface PlatformMessage {
  readonly id: string;
  readonly text: string;
  readonly from: string;
  readonly atMs: number;
}

export interface DeliverySubject {
  /** Default: the only ingress. */
  readonly path?: string;
  /** May write, as the platform tells people. */
  readonly person: string;
  /** May not. */
  readonly stranger: string;
  /** A genuine delivery of one text message, signed with the secrets of this section. */
  readonly message: (message: PlatformMessage, section: Section) => SampleDelivery;
  /** A genuine delivery of any body. */
  readonly signed: (body: Uint8Array, section: Section, atMs: number) => SampleDelivery;
  /** One that we wrote ourselves, as the platform repeats it to us; for platforms that do. */
  readonly own?: (message: PlatformMessage, section: Section) => SampleDelivery;
  /** How bodies are written: as JSON, or as `application/x-www-form-urlencoded`, where any text is valid. Default: json. */
  readonly encoding?: "json" | "form";
  /** What a delivery proves. `body`: that nothing of it was changed. `sender`: only who posted it (a token). */
  readonly proves: "body" | "sender";
  /**
   * What stops one that is posted again much later. `timestamp`: one that is off by more than `windowMs` is refused. `age`:
   * `Ingress.maxAgeMs`. `once`: `Verdict.once`. `id`: nothing but its id.
   */
  readonly freshness: { readonly by: "timestamp"; readonly windowMs: number } | { readonly by: "age" | "once" | "id" };
  /** Deliveries tell that something happened, and carry no text: they become notices. */
  readonly notifies?: true;
}

export interface MediaSubject<Platform> {
  /** A file of this size on the platform, as a message would name it. */
  readonly file: (platform: Platform, bytes: Uint8Array) => InboundMedia | Promise<InboundMedia>;
  /** One that leads to this URL, wherever that is: in its ref, or because the platform says so. */
  readonly leadingTo: (platform: Platform, url: string) => InboundMedia | Promise<InboundMedia>;
}
