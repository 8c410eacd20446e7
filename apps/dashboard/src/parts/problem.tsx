import type { ApiError } from "../api/api-error.ts";
import { Name } from "./name.tsx";

/** What went wrong, what the other side said of it, what to do, and the code that the documentation explains. */
export function Problem({ error, what }: { readonly error: ApiError | undefined; readonly what?: string }) {
  if (error === undefined) return null;
  const { code, message, retryAfterSecs, fields } = error;
  const { said, fix } = fields;
  return (
    <div class="problem" role="alert">
      <p>
        {what === undefined ? "" : `${what} `}
        <Name>{message}</Name> <code>{code}</code>
        {retryAfterSecs === undefined || typeof fix === "string" ? "" : ` Try again in ${retryAfterSecs} s.`}
      </p>
      {typeof said === "string" && (
        <p>
          The provider says: <q dir="auto">{said}</q>
        </p>
      )}
      {typeof fix === "string" && (
        <p>
          <strong>Fix:</strong> <Name>{fix}</Name>
        </p>
      )}
    </div>
  );
}
