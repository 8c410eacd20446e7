/** Uploads and recordings in memory. */
import type { OpenedFile, UploadBody } from "@svc/agent";
import { type ClientId, SvcError } from "@svc/contract";
import type { Upload } from "@svc/store";

export class FakeAttachments {
  /** What was uploaded, by its id. */
  readonly uploads = new Map<string, Upload & { readonly bytes: Buffer }>();
  /** Files of conversations, by id. */
  readonly files = new Map<string, OpenedFile>();
  /** As long as it is set, whatever is asked rejects with it. */
  fails: SvcError | undefined;
  sweeps = 0;
  /** Bytes that came in, of uploads that failed too. */
  received = 0;

  readonly receive = async (owner: ClientId, name: string, body: UploadBody): Promise<Upload> => {
    if (this.fails) throw this.fails;
    const chunks: Uint8Array[] = [];
    await body(async (chunk) => {
      this.received += chunk.byteLength;
      chunks.push(Uint8Array.from(chunk));
    });
    const bytes = Buffer.concat(chunks);
    const id = (this.uploads.size + 1).toString(16).padStart(16, "0");
    const upload = { id, owner, name, type: "text/plain", size: bytes.length, at: 0 };
    this.uploads.set(id, { ...upload, bytes });
    return upload;
  };

  readonly discard = async (owner: ClientId, id: string): Promise<boolean> => {
    if (this.fails) throw this.fails;
    return this.uploads.get(id)?.owner === owner && this.uploads.delete(id);
  };

  readonly read = async (id: string): Promise<OpenedFile> => {
    if (this.fails) throw this.fails;
    const file = this.files.get(id);
    if (!file) throw new SvcError("FILE_UNKNOWN");
    return file;
  };

  readonly sweep = async (): Promise<number> => (this.sweeps += 1);
}

export class FakeSpeech {
  canTranscribe = true;
  fails: SvcError | undefined;
  readonly heard: { readonly name: string; readonly mimeType: string; readonly bytes: Uint8Array }[] = [];

  readonly transcribe = async (recording: FakeSpeech["heard"][number]): Promise<string> => {
    if (this.fails) throw this.fails;
    this.heard.push(recording);
    return "hello";
  };
}
