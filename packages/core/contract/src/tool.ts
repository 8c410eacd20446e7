import type { GenericSchema, InferOutput } from "valibot";
import type { ClientId } from "./identity.ts";
import type { Json } from "./json.ts";
import type { Logger } from "./log.ts";
import type { ExecRequest, ExecResult } from "./sandbox.ts";

/** `auto`: only reads, runs freely. `ask`: acts on the world, so the security policy decides. */
export type Approval = "auto" | "ask";

/** A tool of the model. Stateless between calls; its dependencies come with the context. */
export interface Tool<Schema extends GenericSchema = GenericSchema> {
  /** `[a-z][a-z0-9_]{0,63}`, unique in the build. */
  readonly name: string;
  /** What it does and when to use it, written for the model. */
  readonly description: string;
  readonly input: Schema;
  readonly approval: Approval | Method<InferOutput<Schema>, Approval>;
  /** The shell command line a call would run; judged by `security.policy.allowed_commands`. */
  readonly commandLine?: Method<InferOutput<Schema>, string>;
  /** Where that line would run, below the workspace; undefined: its root. Redirections are judged from there. */
  readonly commandFolder?: Method<InferOutput<Schema>, string | undefined>;
  /**
   * Whether a person's approval of one call may hold for identical calls, because the arguments alone determine the effect.
   * Undefined: every call needs its own approval.
   */
  readonly lasting?: LastingYes;
  /** The change that the call would make, for the approver; computed when the approval is requested. */
  preview?(
    input: InferOutput<Schema>,
    context: Pick<ToolContext, "workspace" | "signal">,
  ): Promise<FileChange | undefined>;
  /** Throws `SvcError` for what the caller did wrong; the message goes to the model. */
  run(input: InferOutput<Schema>, context: ToolContext): Promise<Json>;
}

export interface LastingYes {
  /** Arguments that may differ in the same conversation. A yes that outlives the conversation is not offered then. */
  readonly free?: readonly string[];
}

/** A file before and after a call. */
export interface FileChange {
  readonly path: string;
  readonly mode: "replace" | "append";
  /**
   * `missing`: it is made by the call. `large`: only its size is known. `unreadable`: it can't be read, which the call may find as well.
   */
  readonly before:
    | { readonly kind: "text"; readonly text: string }
    | { readonly kind: "binary" | "large" | "missing" | "unreadable" };
  /** The text to write: the whole file, or the text added at its end. */
  readonly written: string;
}

/**
 * A function type compared as a method, so that a tool with a narrow input is assignable to `Tool`. This is safe, because
 * callers pass only input that the tool's own schema has validated.
 */
type Method<Input, Result> = { call(input: Input): Result }["call"];

export interface ToolContext {
  readonly clientId: ClientId;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly workspace: Workspace;
  /** Runs a command inside the sandbox in force. */
  exec(request: ExecRequest): Promise<ExecResult>;
  /** The guarded outgoing client: resolves once, refuses private addresses, re-checks every redirect. */
  fetch(url: string, options?: FetchOptions): Promise<FetchResult>;
  /** What makes text of files of this media type, e.g. `application/pdf`; undefined: nothing in this build does. */
  reader(type: string): DocumentReader | undefined;
}

/** Makes text of files that hold it in a form of their own, for tools that read files. */
export interface DocumentReader {
  /** Media type of these files, in lower case. There is one reader a type. */
  readonly type: string;
  /** Throws `SvcError`; the message goes to the model. */
  read(
    path: string,
    part: DocumentPart,
    context: Pick<ToolContext, "clientId" | "signal" | "workspace">,
  ): Promise<DocumentText>;
}

export interface DocumentPart {
  /** Bytes of text (UTF-8) that were read before. One within a character stands for the beginning of the next. */
  readonly offset: number;
  readonly maxBytes: number;
}

export interface DocumentText {
  readonly text: string;
  /** Where the text goes on; undefined: this was the end of it. */
  readonly nextOffset: number | undefined;
  /** Notes for the reader of the text, one sentence each. */
  readonly notes: readonly string[];
}

/** Files below the workspace root. Every path is relative to it (or absolute inside it); symlinks can't lead out. */
export interface Workspace {
  /** Absolute path of the root. */
  readonly root: string;
  /** Reads at most `maxBytes` from byte `offset` (default 0) on; `truncated` says there was more. */
  read(path: string, maxBytes: number, offset?: number): Promise<{ bytes: Uint8Array; truncated: boolean }>;
  /** Creates parent folders as needed; replaces the file atomically, or appends. */
  write(path: string, content: Uint8Array | FillFile, mode: "replace" | "append"): Promise<void>;
  /** Entries of a folder, sorted by name, at most `limit`. */
  list(path: string, limit: number): Promise<{ entries: WorkspaceEntry[]; truncated: boolean }>;
  /** Removes a file, or a folder that is empty, and tells whether it was there. Nothing is removed through a symlink. */
  remove(path: string): Promise<boolean>;
}

/** Gives a file its content piece by piece, one after the other. When it rejects, a file to be replaced stays as it was. */
export type FillFile = (write: (chunk: Uint8Array) => Promise<void>) => Promise<unknown>;

export interface WorkspaceEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "symlink" | "other";
  /** Bytes; 0 unless it is a file. */
  readonly size: number;
}

export interface FetchOptions {
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Beyond it the answer is cut off (`truncated`). Default: 1 MiB. */
  readonly maxBytes?: number;
  /** Called with the answer before its body is read; not called for a redirect that is followed. */
  readonly begun?: (answer: Pick<FetchResult, "status" | "headers">) => void;
  /** Takes the body chunk by chunk; `bytes` is then empty. An error it throws ends the request. */
  readonly write?: (chunk: Uint8Array) => Promise<void>;
  /**
   * `same-host`: a redirect to another host, port or scheme throws ADDRESS_REFUSED. `none`: a redirect is the answer. Default:
   * `follow`.
   */
  readonly redirects?: "follow" | "same-host" | "none";
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface FetchResult {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly truncated: boolean;
  /** The URL that answered, after redirects. */
  readonly url: string;
}

/** Identity; exists so that a tool's input type is inferred from its schema. */
export const defineTool = <Schema extends GenericSchema>(tool: Tool<Schema>): Tool<Schema> => tool;

/** What a tool's name must match. */
export const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;
