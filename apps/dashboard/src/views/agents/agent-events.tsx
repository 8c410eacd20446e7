/** What one child agent does, as it happens: its texts, tool calls and states, the newest first. */
import { useEffect, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import { path } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Section } from "../../parts/section.tsx";
import { ServiceText } from "../../parts/service-text.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { useServices } from "../../services.ts";
import { t } from "../../texts/texts.ts";

interface AgentEvent {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly text: string;
}

const MOST_SHOWN = 200;
const AGAIN_MS = 2000;

const COLUMNS: readonly Column<AgentEvent>[] = [
  { label: "agents.when", cell: ({ at }) => <Ago at={at} />, narrow: true },
  { label: "agents.kind", cell: ({ kind }) => <code>{kind}</code>, narrow: true },
  { label: "agents.text", cell: ({ text }) => <ServiceText>{text}</ServiceText> },
];

export function AgentEvents({
  id,
  title,
  onClose,
}: {
  readonly id: string;
  readonly title: string;
  readonly onClose: () => void;
}) {
  const { events, error } = useAgentEvents(id);
  const label = t("agents.events-of", { title });
  return (
    <Section title={label} aside={<Button onPress={onClose}>{t("common.close")}</Button>}>
      <Problem error={error} />
      <Table label={label} columns={COLUMNS} rows={events} keyOf={({ seq }) => seq} />
    </Section>
  );
}

function useAgentEvents(id: string): { readonly events: readonly AgentEvent[]; readonly error: ApiError | undefined } {
  const { api } = useServices();
  const [events, setEvents] = useState<readonly AgentEvent[]>([]);
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = "0";
    const follow = async (): Promise<void> => {
      try {
        for await (const event of api.stream(path`/api/agents/${id}/events`, last, gone.signal)) {
          setError(undefined);
          if (event.id !== "") last = event.id;
          if (event.type === "over") return;
          const data = event.data as Partial<AgentEvent>;
          if (data.seq !== undefined) setEvents((all) => [data as AgentEvent, ...all].slice(0, MOST_SHOWN));
        }
      } catch (cause) {
        if (gone.signal.aborted) return;
        const told = asApiError(cause);
        setError(told);
        if (told.status === 404) return;
      }
      if (!gone.signal.aborted) timer = setTimeout(() => void follow(), AGAIN_MS);
    };
    setEvents([]);
    void follow();
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [api, id]);
  return { events, error };
}
