/** Full-text search over all conversations. */
import type { SessionFound, SessionSearchResults } from "@svc/api";
import { useEffect, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../client/api.ts";
import { Button } from "../../components/button.tsx";
import { Empty } from "../../components/layout.tsx";
import { Problem } from "../../components/shown.tsx";
import { BriefAgo } from "../../components/values.tsx";
import { useServices } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { t } from "../../texts/texts.ts";
import { SourceIcon, sourceOf, titleOf } from "./chat-name.tsx";

/** Delay after the last key press. */
const PAUSE_MS = 120;
const LIMIT = 30;

interface Search {
  readonly query: string;
  readonly page: SessionSearchResults | undefined;
  readonly error: ApiError | undefined;
}

export function useSearch(query: string): Search & { readonly more: (() => void) | undefined } {
  const { api } = useServices();
  const [search, setSearch] = useState<Search>({ query: "", page: undefined, error: undefined });
  useEffect(() => {
    if (query === "") return;
    const left = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const page = await api.get<SessionSearchResults>(
          "/api/sessions/search",
          { q: query, limit: LIMIT },
          left.signal,
        );
        setSearch({ query, page, error: undefined });
      } catch (error) {
        if (!left.signal.aborted) setSearch({ query, page: undefined, error: asApiError(error) });
      }
    };
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [query, api]);
  const before = search.page?.before ?? null;
  const more = async (): Promise<void> => {
    if (before === null) return;
    const page = await api.get<SessionSearchResults>("/api/sessions/search", { q: search.query, limit: LIMIT, before });
    setSearch((shown) =>
      shown.page?.before === before
        ? { ...shown, page: { results: [...shown.page.results, ...page.results], before: page.before } }
        : shown,
    );
  };
  return { ...search, more: before === null ? undefined : () => void more().catch(() => {}) };
}

export const foundHref = ({ session, turn_id: turn }: SessionFound): string => hrefOf("sessions", session.id, { turn });

export function Snippet({ parts }: { readonly parts: SessionFound["snippet"] }) {
  return <span dir="auto">{parts.map(({ text, hit }, index) => (hit ? <mark key={index}>{text}</mark> : text))}</span>;
}

export function SearchResults({ query }: { readonly query: string }) {
  const { page, error, more, query: answered } = useSearch(query);
  return (
    <div class="chat-scroll">
      <Problem error={error} />
      <p class="unseen" role="status">
        {answered === query && page !== undefined ? t("chats.n-results", { n: page.results.length }) : ""}
      </p>
      {page === undefined && error === undefined && <p class="reading">{t("common.loading")}</p>}
      {page?.results.length === 0 && answered === query && (
        <Empty title={t("chats.no-message-has-all-of")}>{t("chats.put-a-phrase-in-double")}</Empty>
      )}
      <ul class="found" aria-label={t("chats.results")}>
        {page?.results.map((found) => (
          <li key={found.turn_id}>
            <a class="chat-row" href={foundHref(found)}>
              <SourceIcon source={sourceOf(found.session)} />
              <bdi class="chat-title">{titleOf(found.session)}</bdi>
              <span class="chat-time">
                <BriefAgo at={found.at} />
              </span>
              <span class="found-text">
                <Snippet parts={found.snippet} />
              </span>
            </a>
          </li>
        ))}
      </ul>
      {more && (
        <p class="earlier">
          <Button onPress={more}>{t("chats.show-older-results")}</Button>
        </p>
      )}
    </div>
  );
}

/** The source's icon or first letter. Screen readers get its name. */
