import type { ApiError } from "../api/api-error.ts";

/** What went wrong, with the code that the documentation explains. */
export function Problem({ error, what }: { readonly error: ApiError | undefined; readonly what?: string }) {
  if (error === undefined) return null;
  const { code, message, retryAfterSecs } = error;
  return (
    <p class="problem" role="alert">
      {what === undefined ? "" : `${what} `}
      {message} <code>{code}</code>
      {retryAfterSecs === undefined ? "" : ` Try again in ${retryAfterSecs} s.`}
    </p>
  );
}
