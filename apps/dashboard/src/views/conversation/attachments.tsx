/** Files of the next message: picking or dropping them, their upload, and the list above the message box. */
import type { FileInfo } from "@svc/api";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Api, ApiError, asApiError, path } from "../../client/api.ts";
import { Icon } from "../../components/icon.tsx";
import { ErrorText } from "../../components/shown.tsx";
import { Name } from "../../components/text.tsx";
import { Cell } from "../../cell.ts";
import { remember, remembered } from "../../state/tab-memory.ts";
import { fileSize } from "../../texts/format.ts";
import { t } from "../../texts/texts.ts";

interface PickedListProps {
  readonly files: readonly PickedFile[];
  readonly onRemove: (key: number) => void;
  readonly onRetry: (key: number) => void;
}

/** The files of the next message. */
export function PickedList({ files, onRemove, onRetry }: PickedListProps) {
  if (files.length === 0) return null;
  return (
    <ul class="picked" aria-label={t("sessions.attached-files")}>
      {files.map((file) => (
        <li key={file.key} class={`chip ${file.error ? "failed" : ""}`}>
          <Icon name="file" />
          <span class="chip-name">
            <Name>{file.name}</Name>
          </span>
          <State file={file} />
          {file.canRetry && (
            <button
              type="button"
              class="chip-retry"
              aria-label={t("sessions.upload-again", { name: file.name })}
              onClick={() => onRetry(file.key)}
            >
              {t("common.try-again")}
            </button>
          )}
          <button
            type="button"
            class="chip-remove"
            aria-label={t("sessions.remove", { name: file.name })}
            title={t("common.remove")}
            onClick={() => onRemove(file.key)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function State({ file: { info, error, progress, size } }: { readonly file: PickedFile }) {
  if (error) {
    return (
      <span role="alert">
        <ErrorText error={error} /> <code>{error.code}</code>
      </span>
    );
  }
  if (info) return <span class="hint">{fileSize(size)}</span>;
  return <progress aria-label={t("sessions.upload")} value={progress} max={1} />;
}

/** Accepts files that are dropped anywhere on the page: without it, a dropped file would replace the page. */
export function DropZone({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    let depth = 0;
    const show = (next: number): void => {
      depth = Math.max(0, next);
      setOver(depth > 0);
    };
    const over = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
    };
    const enter = (event: DragEvent): void => {
      if (hasFiles(event)) show(depth + 1);
    };
    const leave = (event: DragEvent): void => {
      if (hasFiles(event)) show(depth - 1);
    };
    const drop = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      show(0);
      take.current(filesIn(event.dataTransfer));
    };
    const stop = new AbortController();
    const { signal } = stop;
    document.addEventListener("dragover", over, { signal });
    document.addEventListener("dragenter", enter, { signal });
    document.addEventListener("dragleave", leave, { signal });
    document.addEventListener("drop", drop, { signal });
    return () => stop.abort();
  }, []);
  return isOver ? (
    <div class="drop-zone">
      <p>{t("sessions.drop-files-to-attach-them")}</p>
    </div>
  ) : null;
}

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes("Files") ?? false;

/** Without folders, which can't be read as files. */
export const filesIn = (data: DataTransfer | null): readonly File[] =>
  [...(data?.items ?? [])].flatMap((item) => {
    if (item.kind !== "file" || item.webkitGetAsEntry()?.isDirectory === true) return [];
    return item.getAsFile() ?? [];
  });

/** Limits of the API. */
const MAX_FILES = 20;
const MAX_BYTES = 25 * 1_048_576;

interface PickedFile {
  readonly key: number;
  readonly name: string;
  readonly size: number;
  /** 0 to 1. */
  readonly progress: number;
  /** Set once it is uploaded. */
  readonly info?: FileInfo;
  readonly error?: ApiError | undefined;
  /** The upload was interrupted and can be retried. */
  readonly canRetry?: boolean;
}

/** Files of the next message. Each is uploaded at once and stays on the daemon until the message is sent. */
export class PickedFiles {
  readonly files: Cell<readonly PickedFile[]>;
  readonly #api: Pick<Api, "call" | "upload">;
  readonly #memory: string;
  readonly #sending = new Map<number, AbortController>();
  /** Bytes of interrupted uploads. A reload loses them: a page can't store a file of the user's disk. */
  readonly #interrupted = new Map<number, File>();
  #count = 0;

  /** `draft`: key under which they survive a reload. */
  constructor(api: Pick<Api, "call" | "upload">, draft: string) {
    this.#api = api;
    this.#memory = `files.${draft}`;
    this.files = new Cell(
      storedFiles(this.#memory).map((info) => ({
        key: this.#next(),
        name: info.name,
        size: info.size,
        progress: 1,
        info,
      })),
    );
  }

  get isUploading(): boolean {
    return this.files.value.some(({ info, error }) => info === undefined && error === undefined);
  }

  get hasFailed(): boolean {
    return this.files.value.some(({ error }) => error !== undefined);
  }

  /** Ids of the uploaded files. */
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

  /** Retries an interrupted upload. */
  retry(key: number): void {
    const file = this.#interrupted.get(key);
    const picked = this.files.value.find((one) => one.key === key);
    if (!file || !picked) return;
    this.#interrupted.delete(key);
    this.#change(key, { error: undefined, canRetry: false, progress: 0 });
    void this.#upload(picked, file);
  }

  /** Aborts the upload, or deletes the uploaded file. */
  remove(key: number): void {
    this.#interrupted.delete(key);
    const file = this.files.value.find((one) => one.key === key);
    this.#sending.get(key)?.abort();
    this.#show(this.files.value.filter((one) => one !== file));
    // A file that can't be deleted now expires.
    if (file?.info) void this.#api.call(path`/api/files/${file.info.id}`, { method: "DELETE" }).catch(() => {});
  }

  /** The message was sent. */
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

function storedFiles(memory: string): readonly FileInfo[] {
  try {
    return JSON.parse(remembered(memory) ?? "[]") as readonly FileInfo[];
  } catch {
    return [];
  }
}
