/** A form with files in it, as platforms take uploads. The runtime writes it: names are escaped, the boundary is its own. */
export interface FormFile {
  /** Name of the field. */
  readonly field: string;
  readonly name: string;
  /** `type/subtype`. */
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

export interface Form {
  readonly body: Uint8Array;
  /** With the boundary. */
  readonly contentType: string;
}

export async function multipart(fields: Readonly<Record<string, string>>, files: readonly FormFile[]): Promise<Form> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const { field, name, mimeType, bytes } of files) {
    form.append(field, new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mimeType }), name);
  }
  const written = new Response(form);
  const contentType = written.headers.get("content-type") as string;
  return { body: await written.bytes(), contentType };
}
