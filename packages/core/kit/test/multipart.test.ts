// An upload is read back by the runtime's own parser: a name with quotes or line breaks must not end a header, and a file
// that holds what looks like a boundary must not end the file.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { multipart } from "../src/index.ts";

test("fields and files come back as they went in", async () => {
  const name = fc.string({ minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(name, fc.string(), name, fc.uint8Array(), async (field, value, fileName, bytes) => {
      const form = await multipart({ [field]: value }, [
        { field: "file", name: fileName, mimeType: "image/png", bytes },
      ]);
      const read = await new Response(form.body as Uint8Array<ArrayBuffer>, {
        headers: { "content-type": form.contentType },
      }).formData();
      const file = read.get("file") as File;
      expect([...read.keys()]).toEqual(field === "file" ? ["file", "file"] : [field, "file"]);
      const found = field === "file" ? (read.getAll("file")[1] as File) : file;
      expect(Buffer.from(await found.arrayBuffer()).equals(bytes)).toBe(true);
      expect(found.type).toBe("image/png");
    }),
    { numRuns: cases(50) },
  );
});

test("a file name can't add a header or a part", async () => {
  const name = 'a"; filename="b\r\nX-Evil: 1\r\n\r\n--';
  const { body } = await multipart({}, [{ field: "file", name, mimeType: "text/plain", bytes: Buffer.from("x") }]);
  const [head] = Buffer.from(body).toString("utf8").split("\r\n\r\n");
  expect(head).toContain('filename="a%22; filename=%22b%0D%0AX-Evil: 1%0D%0A%0D%0A--"');
});
