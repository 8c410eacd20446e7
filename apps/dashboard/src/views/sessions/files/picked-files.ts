/** Files that are to go with the next message: each is uploaded at once, and waits at the service until the message is sent. */
import { ApiError, asApiError } from "../../../api/api-error.ts";
import { type Api, path } from "../../../api/client.ts";
import type { FileInfo } from "../../../api/shapes.ts";
import { Cell } from "../../../state/cell.ts";
import { remember, remembered } from "../../../state/tab-memory.ts";
import { t } from "../../../texts/texts.ts";

/** As the service has them. */
const MAX_FILES = 20;
const MAX_BYTES = 25 * 1_048_576;

export interface PickedFile {
  readonly key: number;
  readonly name: string;
  readonly size: number;
  /** 0 to 1. */
  readonly progress: number;
  /** The service has it. */
  readonly info?: FileInfo;
  readonly error?: ApiError | undefined;
  /** The upload was interrupted, and the same file may arrive the next time. */
  readonly canRetry?: boolean;
}

export class PickedFiles {
  readonly files: Cell<readonly PickedFile[]>;
  readonly #api: Pick<Api, "call" | "upload">;
  readonly #memory: string;
  readonly #sending = new Map<number, AbortController>();
  /** Bytes of interrupted uploads. A reload loses them: a page can't keep a file of the user's disk. */
  readonly #interrupted = new Map<number, File>();
  #count = 0;

  /** `draft`: under which they are remembered over a reload. */
  constructor(api: Pick<Api, "call" | "upload">, draft: string) {
    this.#api = api;
    this.#memory = `files.${draft}`;
    this.files = new Cell(
      kept(this.#memory).map((info) => ({ key: this.#next(), name: info.name, size: info.size, progress: 1, info })),
    );
  }

  get isUploading(): boolean {
    return this.files.value.some(({ info, error }) => info === undefined && error === undefined);
  }

  get hasFailed(): boolean {
    return this.files.value.some(({ error }) => error !== undefined);
  }

  /** Ids of those that the service has. */
  get ids(): readonly string[] {
    return this.files.value.flatMap(({ info }) => (info ? [info.id] : []));
  }

  add(files: Iterable<File>): void {
    for (const file of files) {
      const { name, size } = file;
      const picked: PickedFile = { key: this.#next(), name, size, progress: 0 };
      const error = this.#refusal(file);
      this.files.set([...this.files.value, error ? { ...picked, error } : picked]);
      if (!error) void this.#upload(picked, file);
    }
  }

  #refusal({ size }: File): ApiError | undefined {
    if (this.files.value.length >= MAX_FILES)
      return new ApiError("FILE_LIMIT", t("sessions.a-message-has-at-most", { n: MAX_FILES }));
    if (size > MAX_BYTES) return new ApiError("TOO_LARGE", t("sessions.a-file-may-have-at"));
    return size === 0 ? new ApiError("BAD_REQUEST", t("sessions.the-file-is-empty")) : undefined;
  }

  async #upload({ key }: PickedFile, file: File): Promise<void> {
    const controller = new AbortController();
    this.#sending.set(key, controller);
    try {
      const info = await this.#api.upload<FileInfo>("/api/files", {
        bytes: file,
        headers: { "X-File-Name": encodeURIComponent(file.name), "Content-Type": "application/octet-stream" },
        onProgress: (progress) => this.#change(key, { progress }),
        signal: controller.signal,
      });
      this.#change(key, { info, progress: 1 });
    } catch (cause) {
      if (controller.signal.aborted) return;
      const error = asApiError(cause);
      const canRetry = error.status === 0 || error.status === 429 || error.status >= 500;
      if (canRetry) this.#interrupted.set(key, file);
      this.#change(key, { error, canRetry });
    } finally {
      this.#sending.delete(key);
    }
  }

  /** Uploads a file again whose upload was interrupted. */
  retry(key: number): void {
    const file = this.#interrupted.get(key);
    const picked = this.files.value.find((one) => one.key === key);
    if (!file || !picked) return;
    this.#interrupted.delete(key);
    this.#change(key, { error: undefined, canRetry: false, progress: 0 });
    void this.#upload(picked, file);
  }

  /** Calls its upload off, or takes it back. */
  remove(key: number): void {
    this.#interrupted.delete(key);
    const file = this.files.value.find((one) => one.key === key);
    this.#sending.get(key)?.abort();
    this.#show(this.files.value.filter((one) => one !== file));
    // What can't be taken back now expires.
    if (file?.info) void this.#api.call(path`/api/files/${file.info.id}`, { method: "DELETE" }).catch(() => {});
  }

  /** They were sent. */
  clear(): void {
    this.#show([]);
  }

  #change(key: number, change: Partial<PickedFile>): void {
    this.#show(this.files.value.map((one) => (one.key === key ? { ...one, ...change } : one)));
  }

  #show(files: readonly PickedFile[]): void {
    const infos = files.flatMap(({ info }) => (info ? [info] : []));
    remember(this.#memory, infos.length === 0 ? undefined : JSON.stringify(infos));
    this.files.set(files);
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}

function kept(memory: string): readonly FileInfo[] {
  try {
    return JSON.parse(remembered(memory) ?? "[]") as readonly FileInfo[];
  } catch {
    return [];
  }
}
