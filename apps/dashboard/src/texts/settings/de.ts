/** Keys of the config in German: what each is called, its help by the English sentence of the schema, and features by their summary. */
export const de = {
  labels: {
    max_agents: "Höchstzahl der Unteragenten",
    max_cost_usd: "Höchste Kosten (USD)",
    max_tokens: "Höchstzahl der Tokens",
    max_actions: "Höchstzahl der Aufrufe",
    max_depth: "Größte Tiefe",
    max_processes: "Höchstzahl der Prozesse",
    max_run_secs: "Längste Aufgabe (Sekunden)",
    programs: "Programme",
    zombie_after_secs: "Längste Zeit ohne Ereignis (Sekunden)",
    angle: "Winkel",
    approach_speed_limit: "Höchsttempo bei Annäherung",
    blind_mode_speed_limit: "Höchsttempo ohne Sensoren",
    bump_pins: "Pins der Stoßschalter",
    device: "Gerät",
    drive: "Antrieb",
    energy_threshold: "Mindestlautstärke",
    estop_pin: "Pin des Not-Halts",
    group_policy: "Nachrichten in Gruppen",
    kind: "Art",
    left: "Links",
    max_capture_secs: "Längster Befehl (Sekunden)",
    max_drive_duration: "Längste Fahrt (Sekunden)",
    max_speed: "Höchsttempo",
    max_transcriptions_per_hour: "Transkriptionen pro Stunde",
    min_obstacle_distance: "Mindestabstand zu Hindernissen",
    play: "Über Lautsprecher sprechen",
    price_per_minute: "Preis pro Minute",
    recorder: "Aufnahmeprogramm",
    right: "Rechts",
    seed: "Startwert des Zufalls",
    sensor_timeout_secs: "Höchstalter der Messwerte (Sekunden)",
    sensors: "Sensoren",
    silence_timeout_ms: "Pause am Satzende (ms)",
    slow_zone_multiplier: "Faktor der Langsamzone",
    wake_word: "Aktivierungswort",
    web_root_key: "Wurzelschlüssel des Testservers",
    web_version: "Version von WhatsApp Web",
    reply: "Gesprochene Antworten",
    reply_in: "Je Kanal",
    private_key: "Privater Schlüssel",
    relays: "Relays",
    allowed_pubkeys: "Erlaubte öffentliche Schlüssel",
    openocd_script: "OpenOCD-Skript",
    above: "Ab diesem Messwert HIGH",
    hysteresis: "Hysterese",
    aardvark_library: "Aardvark-Bibliothek",
    access_token: "Zugriffstoken",
    account_sid: "Account SID",
    ack_reaction: "Reaktion als Bestätigung",
    address: "Adresse",
    agent: "Agent",
    agent_browser_path: "Pfad zu agent-browser",
    agents: "Agenten",
    allow_private: "Erlaubte private Adressen",
    allow_public_bind: "Öffentliche Adresse erlauben",
    allowed_commands: "Erlaubte Befehle",
    allowed_domains: "Erlaubte Domains",
    allowed_guilds: "Erlaubte Server",
    allowed_hosts: "Erlaubte Hostnamen",
    allowed_numbers: "Erlaubte Nummern",
    allowed_rooms: "Erlaubte Räume",
    allowed_senders: "Erlaubte Absender",
    allowed_targets: "Erlaubte Ziele",
    allowed_users: "Erlaubte Nutzer",
    always: "Immer erlaubt",
    api_key: "API-Schlüssel",
    api_token: "API-Token",
    api_url: "API-URL",
    app_id: "App-ID",
    app_secret: "App-Geheimnis",
    app_token: "App-Token",
    approvals: "Freigaben",
    approvers: "Wer freigeben darf",
    auth_token: "Auth-Token",
    authorization: "Authorization-Header",
    authserv_id: "Authserv-ID",
    autonomy: "Selbstständigkeit",
    backend: "Backend",
    base_url: "Basis-URL",
    baud: "Baudrate",
    board: "Board",
    boards: "Boards",
    bot_name: "Name des Bots",
    bot_token: "Bot-Token",
    browser: "Browser",
    callback_token: "Callback-Token",
    choices: "Auswahl an Modellen",
    chromium_path: "Pfad zu Chromium",
    client_id: "Client-ID",
    client_max_actions_per_hour: "Aktionen pro Stunde und Client",
    client_max_cost_per_day: "Höchste Kosten pro Tag und Client",
    client_secret: "Client-Geheimnis",
    code_notice: "Ersatz für Code",
    command: "Befehl",
    computer_use_api_key: "API-Schlüssel für computer_use",
    computer_use_endpoint: "Endpunkt für computer_use",
    computer_use_windows: "Fenster für computer_use",
    container_image: "Container-Image",
    cpu_secs: "Prozessorzeit in Sekunden",
    daemon: "Dienst",
    debounce_ms: "Entprellzeit in ms",
    default_execution_mode: "Standardmodus",
    delivery: "Zustellung",
    detect_voicemail: "Mailbox erkennen",
    device_id: "Geräte-ID",
    disabled: "Ausgeschaltet",
    display_name: "Anzeigename",
    draft_update_interval_ms: "Abstand der Bearbeitungen in ms",
    drain_secs: "Zeit zum Beenden in Sekunden",
    edge: "Flanke",
    enabled: "Eingeschaltet",
    encrypt: "Verschlüsseln",
    encrypt_key: "Encrypt Key",
    expire_secs: "Gültigkeit in Sekunden",
    file: "Protokolldatei",
    filler: "Füllsatz",
    filler_after_secs: "Füllsatz nach Sekunden",
    firmware_dir: "Firmware-Ordner",
    folder: "Ordner",
    forbidden_paths: "Verbotene Pfade",
    from_number: "Absendernummer",
    from_phone: "Eigene Nummer",
    gateway: "Netzwerk",
    gdb_server: "GDB-Server",
    goodbye: "Abschied",
    greeting: "Begrüßung",
    hardware: "Hardware",
    history_max_tokens: "Tokens aus dem Verlauf",
    homeserver: "Homeserver",
    host: "Adresse",
    i2c_buses: "I2C-Busse",
    idempotency_max_keys: "Höchstzahl an Idempotenzschlüsseln",
    idempotency_ttl_secs: "Gültigkeit der Idempotenzschlüssel in Sekunden",
    idle_secs: "Leerlauf in Sekunden",
    imap_host: "IMAP-Server",
    imap_port: "IMAP-Port",
    imap_security: "IMAP-Verschlüsselung",
    input: "Eingang",
    input_per_million: "Preis je Million Eingabetokens",
    instructions: "Anweisungen",
    invite: "Einladungen",
    jwks_url: "JWKS-URL",
    keys_notice: "Hinweis auf Tasten",
    label_filter: "Labels",
    language: "Sprache",
    level: "Stufe",
    log: "Protokoll",
    mailbox: "Postfach",
    mark_seen: "Als gelesen markieren",
    max_actions_per_hour: "Aktionen pro Stunde",
    max_answers_per_hour: "Antworten pro Stunde",
    max_attachment_mb: "Größter Anhang in MiB",
    max_attempts: "Höchstzahl an Versuchen",
    max_body_bytes: "Größte Anfrage in Bytes",
    max_bytes: "Größte Datei in Bytes",
    max_call_secs: "Längster Anruf in Sekunden",
    max_chars: "Höchstzahl an Zeichen",
    max_concurrent_total: "Gleichzeitige Läufe",
    max_cost_per_day: "Höchste Kosten pro Tag",
    max_file_mb: "Größte Protokolldatei in MB",
    max_files: "Höchstzahl an Dateien",
    max_output_tokens: "Höchstzahl an Ausgabetokens",
    max_parallel_turns: "Gleichzeitige Anfragen",
    max_retries: "Höchstzahl an Wiederholungen",
    max_sessions: "Höchstzahl an Unterhaltungen",
    max_steps: "Höchstzahl an Schritten",
    memory_mb: "Arbeitsspeicher in MB",
    mention_only: "Nur bei Erwähnung",
    message_days: "Nachrichten aufbewahren, in Tagen",
    method: "Methode",
    mode: "Modus",
    model: "Modell",
    mqtt: "MQTT",
    name: "Name",
    native_headless: "Ohne Fenster",
    net: "Private Adressen",
    network: "Netzwerkzugriff",
    notification_target: "Ziel für Benachrichtigungen",
    oauth_token: "OAuth-Token",
    observability: "Beobachtbarkeit",
    otel_endpoint: "OTLP-Endpunkt",
    otel_headers: "OTLP-Header",
    otel_protocol: "OTLP-Protokoll",
    otel_record_content: "Inhalte aufzeichnen",
    otel_sampling: "Anteil der Traces",
    otel_service_name: "Name des Dienstes",
    output_per_million: "Preis je Million Ausgabetokens",
    page_session_days: "Anmeldung der Seite, in Tagen",
    pair_phone: "Nummer zum Koppeln",
    password: "Passwort",
    path: "Pfad",
    per_client: "Je Client zählen",
    peripherals: "Boards",
    phone_number_id: "ID der Telefonnummer",
    pids: "Prozesse",
    pin: "Pin",
    plugins: "Plugins",
    plugins_dir: "Plugin-Ordner",
    policy: "Richtlinie",
    poll_interval_secs: "Abrufabstand in Sekunden",
    port: "Port",
    price: "Preis",
    prices: "Preise",
    processed_mailbox: "Postfach für Erledigtes",
    provider: "Anbieter",
    public_url: "Öffentliche URL",
    pubsub_url: "Pub/Sub-URL",
    pull: "Widerstand",
    push_audience: "Audience der Pushes",
    push_service_account: "Dienstkonto der Pushes",
    rate_limit_max_keys: "Höchstzahl gezählter Clients",
    readable: "Lesbare Pfade",
    receive_mode: "Empfangsart",
    recognizer: "Spracherkennung",
    recovery_key: "Wiederherstellungsschlüssel",
    refresh_token: "Refresh-Token",
    reprompt: "Nachfrage",
    require_authenticated: "Authentifizierte Absender verlangen",
    require_pairing: "Kopplung verlangen",
    require_signatures: "Signaturen verlangen",
    required: "Zwingend",
    retention: "Aufbewahrung",
    ring_secs: "Klingelzeit in Sekunden",
    room_id: "Raum-ID",
    rp_id: "Domain der Passkeys",
    rp_name: "Angezeigter Name",
    rp_origin: "Adresse der Seite",
    sandbox: "Sandbox",
    save_sent: "Gesendetes aufbewahren",
    secret: "Geheimnis",
    secrets: "Geheimnisse",
    security: "Sicherheit",
    session_days: "Unterhaltungen aufbewahren, in Tagen",
    session_path: "Ordner der Sitzung",
    sign_in: "Anmeldung erlauben",
    signing_secret: "Signaturgeheimnis",
    silence_timeout_secs: "Stille bis zur Nachfrage in Sekunden",
    slash_commands: "Slash-Befehle",
    smtp_host: "SMTP-Server",
    smtp_port: "SMTP-Port",
    smtp_security: "SMTP-Verschlüsselung",
    sop: "Abläufe",
    speaker: "Sprecher",
    speech_timeout_secs: "Ende der Rede nach Sekunden",
    stream_mode: "Anzeige beim Schreiben",
    tenant_id: "Mandanten-ID",
    thread_replies: "In Threads antworten",
    timeout_secs: "Zeitlimit in Sekunden",
    title_model: "Modell für Titel",
    tls_ca: "Zertifizierungsstellen (PEM)",
    tls_ca_file: "Datei der Zertifizierungsstellen",
    token_url: "Token-URL",
    tool: "Werkzeug",
    tool_call_days: "Werkzeugaufrufe aufbewahren, in Tagen",
    tool_timeout_secs: "Wartezeit auf Freigabe in Sekunden",
    tools: "Werkzeuge",
    topic: "Topic",
    topics: "Topics",
    transcription: "Transkription",
    transport: "Verbindung",
    trust_forwarded_headers: "Weitergeleiteten Headern vertrauen",
    trusted_proxies: "Vertrauenswürdige Proxys",
    tts: "Sprachausgabe",
    turn_timeout_secs: "Zeitlimit je Anfrage in Sekunden",
    url: "URL",
    url_secret: "Geheimnis in der URL",
    use_feishu: "Feishu verwenden",
    user_id: "Nutzer-ID",
    username: "Benutzername",
    verification_token: "Verifizierungstoken",
    verified_callers_only: "Nur geprüfte Anrufer",
    verify_token: "Verifizierungstoken",
    voice: "Stimme",
    watch: "Überwachte Pins",
    webauthn: "Passkeys",
    webhook: "Webhook",
    webhook_rate_limit_per_minute: "Webhook-Anfragen pro Minute",
    webhook_secret: "Webhook-Geheimnis",
    webhook_url: "Webhook-URL",
    workspace: "Arbeitsbereich",
    workspace_only: "Nur im Arbeitsbereich",
    writable: "Beschreibbare Pfade",
    item: "Eintrag",
  },
  help: {
    'Program and arguments. It must speak the Agent Client Protocol, e.g. ["claude-code-acp"].':
      'Programm und Argumente; es spricht das Agent Client Protocol, z. B. ["claude-code-acp"].',
    "Let agents start child agents.": "Agenten dürfen Unteragenten starten.",
    "What one child agent may cost in US dollars, with those that it makes. Default: no limit.":
      "So viel darf ein Unteragent samt denen, die er startet, in US-Dollar kosten. Ohne Angabe unbegrenzt.",
    "Tokens that one child agent may use, with those that it makes. Default: no limit.":
      "So viele Tokens darf ein Unteragent samt denen, die er startet, verbrauchen. Ohne Angabe unbegrenzt.",
    "Calls of tools that one child agent may make, with those that it makes. Default: no limit.":
      "So viele Werkzeugaufrufe darf ein Unteragent samt denen, die er startet, machen. Ohne Angabe unbegrenzt.",
    "Child agents with a process at the same time.": "So viele Unteragenten haben zugleich einen Prozess.",
    "Nesting depth of child agents; 1: a child can't start children.":
      "Wie tief Unteragenten weitere starten dürfen: 1 heißt gar nicht.",
    "Processes of one child agent; beyond that it is killed (Linux).":
      "Prozesse eines Unteragenten; mit mehr wird er beendet (Linux).",
    "Longest time for one prompt, in seconds.": "Längste Zeit für eine Aufgabe, in Sekunden.",
    "A child agent that runs without an event for this many seconds is killed.":
      "Ein Unteragent, der so viele Sekunden ohne Ereignis läuft, wird beendet.",
    "Programs that speak the Agent Client Protocol, by name. They run in the agent's sandbox.":
      "Programme, die das Agent Client Protocol sprechen, nach Namen. Sie laufen in der Sandbox des Agenten.",
    "Child agents in processes of their own": "Unteragenten in eigenen Prozessen",
    "Base URL of the homeserver's client API, such as https://matrix.example.org.":
      "Basis-URL der Client-API des Homeservers, etwa https://matrix.example.org.",
    "Host name that passkeys are bound to: that of rp_origin, or a domain above it. Default: the host of rp_origin.":
      "Hostname, an den Passkeys gebunden sind: der von rp_origin oder eine Domain darüber. Standard: der Host von rp_origin.",
    "Origin of the page on which people use passkeys. Default: gateway.public_url, else http://localhost.":
      "Adresse der Seite, auf der Passkeys verwendet werden. Standard: gateway.public_url, sonst http://localhost.",
    "Transcription provider: OpenAI, an OpenAI-compatible service, or a program on this machine.":
      "Wer transkribiert: OpenAI, ein anderer Dienst mit derselben Schnittstelle oder ein Programm auf diesem Rechner.",
    "Program and arguments for provider = command, started without a shell. {file} is the recording, {wav} the same as 16 kHz WAV. It writes the text.":
      "Programm und Argumente für provider = command, ohne Shell gestartet: {file} ist die Aufnahme, {wav} dieselbe als WAV mit 16 kHz. Es schreibt den Text.",
    "Speak answers: on phone calls, and in chats as set by reply.":
      "Antworten in Sprache umwandeln: am Telefon, und in Chats so, wie reply es sagt.",
    "Speech provider: OpenAI, an OpenAI-compatible service, or a program on this machine.":
      "Wer spricht: OpenAI, ein anderer Dienst mit derselben Schnittstelle oder ein Programm auf diesem Rechner.",
    "Program and arguments for provider = command, started without a shell. It reads the text from standard input or from {text}, and writes WAV, Ogg or MP3.":
      "Programm und Argumente für provider = command, ohne Shell gestartet: Es liest den Text oder findet ihn in {text} und schreibt WAV, Ogg oder MP3.",
    "Which answers in chats are also spoken. voice: answers to voice messages.":
      "Welche Antworten in Chats zusätzlich zum Text gesprochen werden. voice: die auf Nachrichten, die als Aufnahme kamen.",
    'The same per channel, by its id: email = "always".':
      'Dasselbe für einzelne Kanäle, nach ihrer ID: email = "always".',
    "Private key of the agent's account, nsec1… or 64 hexadecimal digits. Keep secrets.encrypt on.":
      "Privater Schlüssel des Kontos des Agenten, nsec1… oder 64 Hexadezimalziffern. Lass secrets.encrypt eingeschaltet.",
    "Relays that the account reads from and writes to, such as wss://relay.example.org.":
      "Relays, von denen das Konto liest und an die es schreibt, etwa wss://relay.example.org.",
    "Public keys (npub1… or 64 hexadecimal digits) that may write to the agent; * lets everyone. Empty: no one.":
      "Öffentliche Schlüssel (npub1… oder 64 Hexadezimalziffern), die dem Agenten schreiben dürfen; * lässt alle zu. Leer: niemand.",
    "Public keys that may answer approval requests in this channel. Default: none.":
      "Öffentliche Schlüssel derer, die dort Freigaben beantworten dürfen; ohne Angabe niemand.",
    "Public key for notifications and approval requests.":
      "Öffentlicher Schlüssel, an den Benachrichtigungen und Freigabeanfragen gehen.",
    "Public keys that the agent may write to with channel_send; * is any. People who wrote to the agent, and notification_target, need not be listed.":
      "Öffentliche Schlüssel, denen der Agent mit channel_send schreiben darf; * ist jeder. Wer ihm geschrieben hat und notification_target müssen nicht aufgeführt sein.",
    "GDB server of a debug probe, for the feature probe: OpenOCD, st-util or probe-rs. Default: svc starts OpenOCD, if it is installed, for each reading.":
      "GDB-Server einer Debug-Probe, für die Funktion probe: OpenOCD, st-util oder probe-rs. Standard: svc startet OpenOCD, falls installiert, für jede Messung.",
    "OpenOCD script for the adapter and the board, used without gdb_server. Default: board/st_nucleo_f4.cfg.":
      "OpenOCD-Skript für Adapter und Board, wenn kein gdb_server gesetzt ist. Standard: board/st_nucleo_f4.cfg.",
    "Reading from which the pin counts as HIGH, in units of the board's converter. Setting it makes the pin analog.":
      "Macht ihn zu einem analogen Pin, der ab diesem Messwert als HIGH zählt, so wie der Wandler des Boards zählt.",
    "Hysteresis: how far below `above` the reading must fall to count as LOW.":
      "Wie weit der Messwert unter `above` fallen muss, um als LOW zu zählen.",
    "Relay network: encrypted and gift-wrapped direct messages":
      "Relay-Netz: verschlüsselte, verpackte Direktnachrichten",
    "A container of podman or docker around commands": "Ein Container von Podman oder Docker um Befehle",
    "A seatbelt profile around commands": "Ein Seatbelt-Profil um Befehle",
    "Browser tool in process, driving an installed Chromium":
      "Browser-Werkzeug im Dienst selbst, steuert ein installiertes Chromium",
    "Browser tool through a computer-use service": "Browser-Werkzeug über einen Computer-Use-Dienst",
    "Browser tool through the agent-browser program (the default backend)":
      "Browser-Werkzeug über das Programm agent-browser (Standard-Backend)",
    "Discord bot, by its gateway connection": "Discord-Bot, über die Gateway-Verbindung",
    "E-mail: IMAP in, SMTP out": "E-Mail: Eingang über IMAP, Ausgang über SMTP",
    "Federated chat with end-to-end encryption, drafts by edits and voice transcription":
      "Föderierter Chat mit Ende-zu-Ende-Verschlüsselung, Entwürfen durch Bearbeiten und Transkription",
    "Fetches a URL through the guarded client": "Ruft eine URL über den abgesicherten Client ab",
    "GET /metrics in text format": "GET /metrics im Textformat",
    "GPIO of the Raspberry Pi it runs on": "GPIO des Raspberry Pi, auf dem es läuft",
    "I2C, SPI and GPIO through an Aardvark adapter, and I2C of this computer":
      "I2C, SPI und GPIO über einen Aardvark-Adapter, und I2C dieses Rechners",
    "Kernel-enforced file system rules around commands (Linux 5.13 or newer)":
      "Dateisystemregeln des Kernels um Befehle (ab Linux 5.13)",
    "Lark and Feishu apps, by long connection or callback":
      "Apps für Lark und Feishu, über Dauerverbindung oder Callback",
    "Live chip information and memory over USB/SWD": "Chipinformationen und Speicher live über USB/SWD",
    "Mailpush: web mail by push notifications": "Mailpush: Webmail per Push-Benachrichtigung",
    "Passkeys at the gateway": "Passkeys am Gateway",
    "Procedures started by messages of an MQTT broker": "Abläufe, die Nachrichten eines MQTT-Brokers starten",
    "Procedures started by pins of boards": "Abläufe, die Pins von Boards starten",
    "Provider A: cloud messaging API, by webhook": "Anbieter A: Cloud-API für Nachrichten, über Webhook",
    "Provider B: partner API for iMessage, RCS and SMS, by webhook":
      "Anbieter B: Partner-API für iMessage, RCS und SMS, über Webhook",
    "Provider C: hosted business-chat API, by webhook": "Anbieter C: gehostete API für Geschäftschats, über Webhook",
    "Provider D: chat bot of a self-hosted collaboration suite, by webhook":
      "Anbieter D: Chatbot einer selbst gehosteten Kollaborationssuite, über Webhook",
    "Reads, writes and lists files in the workspace": "Liest, schreibt und listet Dateien im Arbeitsbereich",
    "Replies and notifications posted to a URL of the operator's":
      "Antworten und Benachrichtigungen an eine eigene URL",
    "Runs a shell command in the sandbox": "Führt einen Shell-Befehl in der Sandbox aus",
    "Slack app, by Socket Mode or the Events API": "Slack-App, über Socket Mode oder die Events API",
    "Telegram bot, by long polling or webhook": "Telegram-Bot, über Long Polling oder Webhook",
    "Telephone calls by a programmable-voice platform": "Telefonanrufe über eine Plattform für programmierbare Sprache",
    "Text of PDF files": "Text aus PDF-Dateien",
    "Tools from WASM plugins, and the plugin commands": "Werkzeuge aus WASM-Plugins und die Befehle dafür",
    "Traces by OTLP over HTTP": "Traces per OTLP über HTTP",
    "USB and serial board registry, GPIO and serial tools":
      "Verzeichnis der USB- und seriellen Boards, Werkzeuge für GPIO und seriell",
    "What is known of the configured boards, and data sheets":
      "Wissen über die eingerichteten Boards, und Datenblätter",
    "bubblewrap (user namespaces) around commands": "Bubblewrap (User-Namespaces) um Befehle",
    "firejail around commands": "Firejail um Befehle",
    "A change is in force after a restart.": "Eine Änderung gilt nach einem Neustart.",
    "Tokens of history sent with a turn; the oldest turns are dropped whole.":
      "Tokens des Verlaufs, die mit einer Anfrage gesendet werden; die ältesten fallen vollständig weg.",
    "System prompt of the agent.": "Was dem Agenten vor jeder Unterhaltung gesagt wird.",
    "US dollars that an agent may spend per day (UTC) for one client: a device, a person of a channel, the terminal, the procedures, or all callers without a token. Default: max_cost_per_day.":
      "So viele US-Dollar darf ein Agent pro Tag (UTC) für einen Client ausgeben: ein Gerät, eine Person eines Kanals, das Terminal, die Abläufe oder alle Aufrufe ohne Token. Ohne Angabe: max_cost_per_day.",
    "The cost per day also counts per client; false: only the agent's total counts.":
      "Die Kosten pro Tag zählen auch je Client; false: nur die Summe des Agenten zählt.",
    "As in [agent].": "Wie in [agent].",
    "Acting tool calls allowed per hour for one client; 0: no limit of its own. Default: max_actions_per_hour.":
      "Erlaubte handelnde Aufrufe pro Stunde für einen Client; 0 ist keine eigene Grenze. Ohne Angabe: max_actions_per_hour.",
    "The actions also count per client; false: only the agent's total counts.":
      "Die Aktionen zählen auch je Client; false: nur die Summe des Agenten zählt.",
    "US dollars that an agent may spend per day (UTC). Requires the price of its model.":
      "So viele US-Dollar darf ein Agent höchstens pro Tag (UTC) ausgeben. Braucht den Preis seines Modells.",
    "Turns at the same time, over all conversations.": "Anfragen, die gleichzeitig laufen, über alle Unterhaltungen.",
    "Most model calls in one turn.": "Höchstzahl an Modellaufrufen in einer Anfrage.",
    "Titles new conversations while no turn runs: model.name or one of model.choices. Default: their first words.":
      "Benennt neue Unterhaltungen, solange keine Anfrage läuft: model.name oder eines aus model.choices. Standard: ihre ersten Wörter.",
    "Seconds a turn may run; waiting for an approval does not count.":
      "So viele Sekunden darf eine Anfrage laufen; das Warten auf eine Person zählt nicht.",
    "System prompt of this agent.": "Was diesem Agenten vor jeder Unterhaltung gesagt wird.",
    "Other models of this provider that people may choose in a conversation with the agent.":
      "Weitere Modelle seines Anbieters, die in einer Unterhaltung mit ihm gewählt werden können.",
    "Retries of a failed model call.": "Wiederholungen eines fehlgeschlagenen Modellaufrufs.",
    "Another provider. It inherits nothing from [model], least of all the key.":
      "Ein anderer Anbieter; dann wird nichts aus [model] übernommen, vor allem nicht der Schlüssel.",
    "As in [security.policy].": "Wie in [security.policy].",
    "Tools of the agent. Default: all.": "Die Werkzeuge, die er hat; ohne diese Zeile alle.",
    "Working directory of this agent, absolute or below the home.":
      "Sein eigenes Arbeitsverzeichnis, absolut oder unterhalb des Datenverzeichnisses.",
    "Seconds after which an unanswered approval request expires.":
      "Sekunden, nach denen eine unbeantwortete Freigabeanfrage verfällt.",
    "Seconds to wait for an approval before the call is refused.":
      "So viele Sekunden wird auf eine Person gewartet, bevor der angefragte Aufruf abgelehnt wird.",
    "Path of agent-browser. Default: found on the PATH.": "Das Programm agent-browser. Standard: das im PATH.",
    "Hosts that pages and their resources may load from: example.com, *.example.com with all subdomains, an address, or * for every public host. Empty: none.":
      "Hosts, von denen Seiten und alles darin kommen dürfen: example.com, *.example.com mit allen darunter, eine Adresse oder * für alle öffentlichen. Leer: keine.",
    "Browser backend: the program agent-browser, svc itself (native), or the service at computer_use_endpoint.":
      "Wer ihn steuert: das Programm agent-browser, svc selbst (native) oder der Dienst unter computer_use_endpoint.",
    "Path of the Chromium to start. Default: the installed one.":
      "Das Chromium, das gestartet wird. Standard: das installierte.",
    "URL that takes the actions of the backend computer_use.":
      "URL, die die Aktionen des Backends computer_use annimmt.",
    "Titles of windows that the agent may act in. Empty: the browser's own.":
      "Titel der Fenster, in denen er handeln darf. Leer: nur die des Browsers.",
    "Give agents a browser.": "Agenten haben einen Browser.",
    "Seconds of inactivity after which a conversation's browser is closed.":
      "Sekunden ohne Aufruf, nach denen der Browser einer Unterhaltung geschlossen wird.",
    "Run the native browser without a window.": "Der native Browser zeigt kein Fenster.",
    "Reaction that marks a message while it is being answered; blank: none.":
      "Reaktion, die eine Nachricht markiert, während sie beantwortet wird; leer für keine.",
    "Ids of the servers to listen in. Default: all servers that the bot was invited to.":
      "IDs der Server, auf denen er zuhört; ohne Angabe alle, zu denen der Bot eingeladen wurde.",
    "Ids of users that may write to the agent; * lets everyone.":
      "IDs der Nutzer, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Base URL of the platform's API. Change it for a proxy or a test.":
      "Basis-URL der API der Plattform; eine andere für einen Proxy oder Test.",
    "Token of the bot, without the word Bot in front.": "Token des Bots, ohne das Wort Bot davor.",
    "Least milliseconds between two edits of an answer.":
      "So viele Millisekunden liegen mindestens zwischen zwei Bearbeitungen einer Antwort.",
    "Set to false to turn the feature off and keep its settings.":
      "Auf false schaltet die Funktion aus und behält ihre Einstellungen.",
    "On a server, only messages that mention the bot or its role, or reply to it, reach the agent.":
      "Auf einem Server erreicht den Agenten nur, was den Bot oder seine Rolle erwähnt oder auf seine Nachricht antwortet.",
    "Register /new, /model, /status, /stop and /help with the platform.":
      "Meldet /new, /model, /status, /stop und /help bei der Plattform an.",
    "partial: send the beginning of an answer and edit it as it grows. multi_message: send each paragraph once it is complete.":
      "partial: Eine Antwort wird früh gesendet und fortlaufend bearbeitet. multi_message: Jeder Absatz wird gesendet, sobald er fertig ist.",
    "In a thread that the bot opened or was mentioned in, answer without further mentions.":
      "Ein Thread, den der Bot eröffnet hat oder in dem er erwähnt wurde, braucht keine weitere Erwähnung.",
    "OAuth access token (XOAUTH2), instead of a password. It expires soon without a refresh token.":
      "OAuth-Zugriffstoken (XOAUTH2) statt eines Passworts. Läuft bald ab, wenn es kein Refresh-Token gibt.",
    "Mail address of the agent; answers come from it.": "Unsere Mailadresse: Von ihr kommen die Antworten.",
    "Addresses, domains or @domains that may write to the agent; * lets everyone.":
      "Adressen, Domains oder @Domains, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Name of the mail server in its Authentication-Results headers. Without it, svc trusts the topmost of these headers.":
      "Name, unter dem dieser Server Authentication-Results schreibt; ohne Angabe zählt der oberste dieser Header, von wem er auch ist.",
    "OAuth client of refresh_token.": "OAuth-Client von refresh_token.",
    "Secret of the OAuth client.": "Geheimnis des OAuth-Clients.",
    "Display name.": "Name, der dazu angezeigt wird.",
    "IMAP server for incoming mail.": "IMAP-Server, auf dem E-Mails gelesen werden.",
    "Its port; default: 993, or 143 without TLS from the start.":
      "Sein Port; Standard: 993, oder 143 ohne TLS von Anfang an.",
    "tls: implicit TLS. starttls: upgrade first, or close the connection. none: only for this machine or an address in security.net.allow_private. Default: tls; on port 143, starttls.":
      "tls: von Anfang an. starttls: wird verlangt, bevor irgendetwas anderes gesagt wird, sonst endet die Verbindung. none: nur zu diesem Rechner oder zu einer Adresse in security.net.allow_private. Standard: tls, bei Port 143 starttls.",
    "Mailbox to read, as the server names it.": "Postfach, das gelesen wird, so wie es auf dem Server heißt.",
    "Mark mail as read when its turn begins.": "E-Mails als gelesen markieren, sobald ihre Bearbeitung beginnt.",
    "Mails of one thread per hour beyond which svc assumes a mail loop and stops answering; 0: no limit.":
      "Mehr E-Mails eines Threads innerhalb einer Stunde gelten als Schleife zweier Programme und werden nicht beantwortet; 0 für keine Grenze.",
    "Largest file, incoming or outgoing, in MiB.": "Größte Datei in beide Richtungen, in MiB.",
    "Password of the mailbox, or an app password. Not needed with a token.":
      "Passwort des Postfachs oder ein App-Passwort. Mit Token nicht nötig.",
    "Seconds between polls of a server without IDLE.":
      "Sekunden zwischen zwei Abfragen bei einem Server, der neue E-Mails nicht meldet (IDLE).",
    "Mailbox that answered mail is moved to. It must exist.":
      "Postfach, in das beantwortete E-Mails verschoben werden. Es muss existieren.",
    "Refresh token. svc uses it to get access tokens.":
      "Refresh-Token, mit dem bei Bedarf Zugriffstoken geholt werden.",
    "Answer only mail whose sender's domain the receiving server has verified by DMARC, DKIM or SPF. Without it, anyone who knows an allowed address, or an approver's, can write in its name.":
      "Eine E-Mail wird nur beantwortet, wenn der annehmende Server durch DMARC, DKIM oder SPF festgestellt hat, dass sie von der genannten Domain kommt. Ohne das kann jeder, der eine erlaubte Adresse kennt, in deren Namen schreiben, auch in dem von jemandem, der freigeben darf.",
    "Mailbox for sent answers: off, auto (the server's mailbox for sent mail), or a name.":
      "Wo Antworten aufbewahrt werden: off, auto (das Postfach, das der Server für gesendete E-Mails nennt) oder der Name eines Postfachs.",
    "SMTP server for outgoing mail.": "SMTP-Server, über den Antworten hinausgehen.",
    "Its port; default: 465, or 587 without TLS from the start.":
      "Sein Port; Standard: 465, oder 587 ohne TLS von Anfang an.",
    "Like imap_security. Default: tls; on ports 587 and 25, starttls.":
      "Wie imap_security. Standard: tls, bei den Ports 587 und 25 starttls.",
    "PEM file of certificate authorities to trust for both servers, instead of the system's.":
      "PEM-Datei der Zertifizierungsstellen, von denen die Zertifikate beider Server sein dürfen, statt der üblichen.",
    "Endpoint that exchanges the refresh token.": "Wo das Refresh-Token eingetauscht wird.",
    "Name to sign in with; default: address.": "Name für die Anmeldung; Standard: address.",
    "Access token of the account's device. Without it, password and `svc channels setup federated`.":
      "Zugriffstoken des Geräts des Kontos. Ohne Angabe: password und `svc channels setup federated`.",
    "Rooms in which messages are answered, by id or alias; * is any. Default: room_id if set, else any.":
      "Räume, in denen Nachrichten beantwortet werden, als ID oder Alias; * ist jeder. Standard: room_id, falls gesetzt, sonst jeder.",
    "People, by user id, that may write to the agent; * lets everyone.":
      "Personen, als Nutzer-ID, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Device of the access token. Default: svc asks the homeserver.":
      "Das Gerät, zu dem das Zugriffstoken gehört. Ohne Angabe wird der Homeserver gefragt.",
    "allowed: invitations from allowed_users to allowed_rooms are accepted. never: none is.":
      "allowed: Einladungen von allowed_users in allowed_rooms werden angenommen. never: keine.",
    "In rooms with more than two members, answer only messages that mention the account or reply to it.":
      "In Räumen mit mehr als zwei Mitgliedern nur Nachrichten beantworten, die das Konto erwähnen oder ihm antworten.",
    "Password of the account. `svc channels setup federated` logs in with it and stores the token.":
      "Passwort des Kontos. `svc channels setup federated` meldet sich damit an und speichert das Token.",
    "Recovery key of the account: opens its cross-signing keys and its key backup.":
      "Wiederherstellungsschlüssel des Kontos: öffnet seine Cross-Signing-Schlüssel und seine Schlüsselsicherung.",
    "Room to join at start, by id or alias. Notifications go there by default.":
      "Raum, der beim Start betreten wird, als ID oder Alias. Benachrichtigungen gehen standardmäßig dorthin.",
    "User id of the account, such as @svc:example.org. Required with password.":
      "Das Konto, etwa @svc:example.org. Mit password erforderlich.",
    "Turns the channel on.": "Der Kanal ist nur eingeschaltet, wenn das true ist.",
    "URL of the keys that verify those tokens.": "Wo die Schlüssel dieser Tokens stehen.",
    "Labels, by name or id; mail with any of them is read. Empty: all mail except spam and sent mail.":
      "Labels, als Name oder ID; E-Mails mit einem davon werden gelesen. Leer: alle außer Spam und Gesendetem.",
    "Access token of the mailbox. It expires after an hour unless the three keys of the refresh token are set.":
      "Zugriffstoken des Postfachs. Läuft nach einer Stunde ab, wenn nicht die drei Schlüssel des Refresh-Tokens gesetzt sind.",
    "Base URL of Pub/Sub's API, for the set-up.": "Basis-URL der API von Pub/Sub, für die Einrichtung.",
    "Audience of the tokens that sign Pub/Sub's pushes.":
      "Audience der Tokens, mit denen Pub/Sub seine Pushes signiert.",
    "Address of the service account that signs Pub/Sub's pushes.":
      "Dienstkonto, für das Pub/Sub seine Pushes signiert; seine Adresse.",
    "Refresh token of the mailbox. svc uses it to get access tokens.":
      "Refresh-Token des Postfachs, mit dem bei Bedarf Zugriffstoken geholt werden.",
    "Endpoint that exchanges a refresh token.": "Wo ein Refresh-Token eingetauscht wird.",
    "Pub/Sub topic that the mailbox notifies of new mail.": "Pub/Sub-Topic, dem das Postfach neue E-Mails meldet.",
    "Bearer secret that a push may present. Pub/Sub signs its pushes instead: see push_audience.":
      "Bearer-Geheimnis, das ein Push vorweisen kann. Pub/Sub selbst kann das nicht; es signiert: siehe push_audience.",
    "URL for the push subscription; default: gateway.public_url and the path.":
      "URL für das Push-Abonnement; Standard: gateway.public_url und der Pfad.",
    "Access token of the Cloud API. Cloud mode needs it.": "Zugriffstoken der Cloud API. Der Cloud-Modus braucht es.",
    "Phone numbers with country code, or user ids of people who hide their number, that may write to the agent; * lets everyone.":
      "Telefonnummern mit Landesvorwahl, oder Nutzer-IDs von Personen, die ihre verbergen, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "App secret with which the platform signs deliveries. Without it, anyone can forge them.":
      "App-Geheimnis, mit dem die Plattform Zustellungen signiert. Ohne das kann jeder eine erfinden.",
    "Web mode: kind of the linked account.": "Web-Modus: Art des verbundenen Kontos.",
    "Web mode: phone number to link by a code; without it by a QR code.":
      "Web-Modus: Telefonnummer zum Koppeln mit einem Code; ohne Angabe mit einem QR-Code.",
    "Id of the business phone number. Setting it selects Cloud mode.":
      "ID der geschäftlichen Telefonnummer; ist sie gesetzt, gilt der Cloud-Modus.",
    "Folder of the linked session; selects Web mode.": "Ordner der verbundenen Sitzung; wählt den Web-Modus.",
    "Verify token of the callback URL; enter the same on the platform. Required in Cloud mode.":
      "Was die Plattform sagen muss, wenn sie die Callback-URL prüft: Trage es auch dort ein. Der Cloud-Modus braucht es.",
    "Phone numbers or mail addresses that may write to the agent; * lets everyone.":
      "Telefonnummern oder Mailadressen, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Token of the partner API.": "Token der Partner-API.",
    "Your line, as + and digits; new chats start from it.":
      "Deine Leitung dort, als + und Ziffern: Neue Chats beginnen von ihr.",
    "Secret of the webhook subscription. Without it, anyone can forge deliveries.":
      "Geheimnis des Webhook-Abonnements. Ohne das kann jeder Zustellungen erfinden.",
    "Phone numbers that may write to the agent; * lets everyone.":
      "Telefonnummern, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Bearer token of the API.": "Bearer-Token der API.",
    "API address that the platform shows for your account, without the account's number.":
      "Adresse, die die Plattform für dein Konto nennt, ohne die Nummer des Kontos.",
    "Token at the end of the callback URL (?token=…). The platform doesn't sign its callbacks; without the token, anyone could post.":
      "Beende die Callback-URL mit ?token= und diesem Wert: Die Plattform signiert nichts, und jeder könnte senden.",
    "Name or number of the line that answers, if the account has several.":
      "Name oder Nummer der Leitung, die antwortet, falls das Konto mehrere hat.",
    "Expected hub.verify_token of a GET of the callback URL.":
      "Was ein GET der Callback-URL als hub.verify_token sagen muss.",
    "User ids that may write to the agent; * lets everyone.":
      "Nutzer-IDs, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "URL for API calls, if it differs from base_url (a proxy).":
      "Wo die API aufgerufen wird; base_url, wenn kein Proxy dazwischen ist.",
    "Shared secret of the bot, as passed to talk:bot:install. It signs answers unless webhook_secret is set.":
      "Das gemeinsame Geheimnis des Bots, wie bei talk:bot:install angegeben; signiert Antworten, wenn webhook_secret nicht gesetzt ist.",
    "Address of the Nextcloud server, as people open it.": "Adresse des Nextcloud-Servers, wie man ihn öffnet.",
    "Display name of the bot. Messages from an account of this name are ignored. Blank: no such rule.":
      "Anzeigename des Bots: Was jemand mit diesem Namen schreibt, wird nicht beantwortet. Leer: keine solche Regel.",
    "Shared secret that checks deliveries and signs answers. 40 to 128 characters.":
      "Dasselbe gemeinsame Geheimnis: prüft Zustellungen und signiert Antworten. 40 bis 128 Zeichen.",
    "Emoji that marks a message while it is being answered; blank: none.":
      "Name des Emojis, das eine Nachricht markiert, während sie beantwortet wird; leer für keines.",
    "User ids (U…) that may write to the agent; * lets everyone.":
      "Nutzer-IDs (U…), die dem Agenten schreiben dürfen; * lässt alle zu.",
    "App-level token with connections:write (xapp-…). Socket Mode needs it.":
      "App-Token mit connections:write (xapp-…). Der Socket Mode braucht es.",
    "Bot token of the app (xoxb-…).": "Bot-Token der App (xoxb-…).",
    "In channels, answer only messages that mention the bot, or threads that it takes part in.":
      "In Kanälen nur antworten, wer den Bot erwähnt oder in einem Thread schreibt, an dem er teilnimmt.",
    "socket: svc connects to the platform. events: the platform posts to svc; requires a public URL.":
      "socket: Wir verbinden uns mit der Plattform. events: Sie sendet an uns, was eine öffentliche URL braucht.",
    "Secret with which the platform signs its posts. Required in the mode events.":
      "Womit die Plattform signiert, was sie sendet. Der Modus events braucht es.",
    "In channels, answer in a thread under the message.": "In Kanälen in einem Thread unter der Nachricht antworten.",
    "People, by their numeric id or @username, that may write to the agent; * lets everyone.":
      "Personen, als numerische ID oder @Benutzername, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Token of the bot, from @BotFather.": "Token des Bots, von @BotFather.",
    "In groups, answer only messages that mention the bot, reply to it or are one of its commands.":
      "In Gruppen wird nur beantwortet, was den Bot erwähnt, ihm antwortet oder ein Befehl an ihn ist.",
    "polling: svc polls the platform. webhook: the platform posts to /telegram.":
      "polling: svc fragt die Plattform nach Nachrichten. webhook: Die Plattform sendet sie an /telegram.",
    "Secret that the platform sends with each post. Required in webhook mode.":
      "Womit sich die Plattform ausweist, wenn sie sendet. Der Modus webhook braucht es.",
    "Account SID, from the platform's console.": "Account SID, aus der Konsole der Plattform.",
    "Phone numbers with country code that may write to the agent; * lets everyone.":
      "Telefonnummern mit Landesvorwahl, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Auth token of the account. svc sends it with requests, and the platform signs its requests with it.":
      "Auth-Token des Kontos: Damit werden Anfragen gestellt, und die Plattform signiert damit ihre eigenen.",
    "Spoken instead of a block of code.": "Wird anstelle eines Codeblocks gesagt.",
    "On voicemail, wait for the end of the greeting before speaking.":
      "Das Ende der Ansage einer Mailbox abwarten, bevor darauf gesprochen wird.",
    "Spoken when an answer takes some seconds; blank: nothing.":
      "Wird gesagt, wenn eine Antwort einige Sekunden dauert; leer: nichts.",
    "Seconds without an answer before the filler is spoken.": "Sekunden ohne Antwort, bevor der Füllsatz gesagt wird.",
    "Phone number of the account, such as +15551234567, for incoming and outgoing calls.":
      "Die Telefonnummer des Kontos, etwa +15551234567: Sie wird angerufen, und von ihr wird angerufen.",
    "Spoken before hanging up.": "Wird vor dem Auflegen gesagt.",
    "Greeting for callers.": "Was Anrufende zuerst hören.",
    "Spoken after a question that is answered by a key; {approve} and {reject} stand for the answers.":
      "Wird nach einer Frage gesagt, die mit einer Taste beantwortet wird; {approve} und {reject} stehen für die Antworten.",
    "Language to speak and recognise, such as en-US.": "Sprache, die gesprochen und verstanden wird, etwa de-DE.",
    "Longest call, in seconds.": "Längster Anruf, in Sekunden.",
    "Speech recognition: the platform's, or [transcription] from recordings.":
      "Wer Anrufende versteht: die Spracherkennung der Plattform oder [transcription] aus Aufnahmen.",
    "Spoken once to a silent caller.": "Wird einmal zu Anrufenden gesagt, die nichts sagen.",
    "Seconds to let the phone ring on an outgoing call.":
      "So viele Sekunden klingelt das Telefon, wenn jemand angerufen wird.",
    "Seconds of silence after which a caller is asked again; after the next silence the call ends.":
      "Sekunden Stille, nach denen noch einmal gefragt und dann aufgelegt wird.",
    "Voice: auto uses [tts] if it is on, else the platform's voice.":
      "Wer spricht: auto ist [tts], solange das eingeschaltet ist, sonst die Stimme der Plattform.",
    "Seconds of silence that end a caller's message; 0: the recogniser decides.":
      "Sekunden Stille, mit denen endet, was jemand sagt; 0: Die Spracherkennung entscheidet.",
    "Accept only calls whose number is verified by the caller's network (STIR/SHAKEN); other numbers can be forged.":
      "Nur Anrufe annehmen, für deren Nummer das Netz bürgt (STIR/SHAKEN); sonst lassen sich Nummern fälschen.",
    "Voice, as the platform names it. Default: the platform's default for the language.":
      "Die Stimme der Plattform, mit ihrem Namen dort. Standard: die übliche der Sprache.",
    "Public URL of this service for the platform, without /voice-call. Default: gateway.public_url.":
      "Wo die Plattform diesen Dienst erreicht, ohne /voice-call. Standard: gateway.public_url.",
    "Name of the agent that answers. Default: the default agent.":
      "Name des Agenten, der antwortet; ohne Angabe der Standardagent.",
    "Chats, rooms or addresses that the agent may write to with channel_send; * is any. People who wrote to the agent, and notification_target, need not be listed.":
      "Chats, Räume oder Adressen, denen der Agent mit channel_send schreiben darf; * ist jede. Wer ihm geschrieben hat und notification_target müssen nicht aufgeführt sein.",
    "Accounts that may answer approval requests in this channel, written as in its allowlist. Default: none.":
      "Wer dort Freigaben beantworten darf, wie in der Liste der Erlaubten; ohne Angabe niemand.",
    "Value of the Authorization header, e.g. Bearer and a token.":
      "Wird als Authorization-Header gesendet, z. B. Bearer und ein Token.",
    "How they are posted.": "Wie sie gesendet werden.",
    "Chat, room or address for notifications and approval requests.":
      "Chat, Raum oder Adresse, wohin Benachrichtigungen und Freigabeanfragen gehen.",
    "Secret that callers of POST /webhook send as X-Webhook-Secret.":
      "Wert, den Aufrufer von POST /webhook als X-Webhook-Secret senden.",
    "Key of the Standard Webhooks signature that POST /webhook requires.":
      "Schlüssel der Signatur nach Standard Webhooks, die bei POST /webhook verlangt wird.",
    "Seconds to wait for the answer before a retry.":
      "Sekunden, die auf die Antwort gewartet wird, bevor es erneut versucht wird.",
    "URL to post messages to; blank: none are posted.":
      "Wohin Nachrichten gesendet werden; ohne Angabe oder leer: nirgendwohin.",
    "Key for the Standard Webhooks signature of posted messages. Without it, they are not signed.":
      "Schlüssel der Signatur nach Standard Webhooks für das, was gesendet wird. Ohne ihn wird nichts signiert.",
    "Reaction that acknowledges a message, such as OK; blank for none. Default: one that suits the language of the message.":
      "Reaktion, die eine Nachricht bestätigt, etwa OK; leer für keine. Standard: eine, die zur Sprache der Nachricht passt.",
    "Open IDs of users (ou_…) that may write to the agent; * lets everyone.":
      "Open IDs der Nutzer (ou_…), die dem Agenten schreiben dürfen; * lässt alle zu.",
    "App ID of the app (cli_…).": "App ID der App (cli_…).",
    "App Secret of the app.": "App Secret der App.",
    "Encrypt Key of the app, to decrypt callbacks and check their signatures.":
      "Encrypt Key der App: Damit werden Callbacks entschlüsselt und ihre Signaturen geprüft.",
    "In groups, only messages that mention the bot, or reply to its questions, reach the agent.":
      "In Gruppen erreichen den Agenten nur Nachrichten, die den Bot erwähnen oder auf seine Fragen antworten.",
    "websocket: svc connects to the platform. webhook: the platform posts to svc; requires a public HTTPS URL.":
      "websocket: svc verbindet sich mit der Plattform. webhook: Sie sendet an svc, was eine öffentliche HTTPS-URL braucht.",
    "The app is a Feishu app. Legacy: use [channels_config.workchat_cn].":
      "Die App ist eine von Feishu. Veraltet: Verwende [channels_config.workchat_cn].",
    "Verification Token of the app, which each callback must carry.":
      "Verification Token der App, das jeder Callback mitbringen muss.",
    "Seconds that running turns get to finish at shutdown.":
      "So viele Sekunden bekommen laufende Anfragen beim Beenden, um fertig zu werden.",
    "Attempts to send a message before it becomes a dead letter, and to answer one while the model is down.":
      "So oft wird versucht, eine Nachricht zu senden, bevor sie als unzustellbar gilt, und sie zu beantworten, solange das Modell nicht erreichbar ist.",
    "Allow listening on an address that other machines can reach.":
      "Erlaubt, auf einer Adresse zu lauschen, die andere Rechner erreichen.",
    "Host names served besides IP literals, localhost and the host of public_url.":
      "Hostnamen, die außer IP-Adressen, localhost und dem Host von public_url bedient werden.",
    "Address to listen on. Anything but loopback needs allow_public_bind.":
      "Adresse, auf der gelauscht wird. Alles außer Loopback braucht allow_public_bind.",
    "Most idempotency keys kept, at least 1; the oldest goes first.":
      "Höchstzahl gespeicherter Idempotenzschlüssel, mindestens 1; die ältesten fallen weg.",
    "Seconds during which a repeated idempotency key counts as a duplicate.":
      "Sekunden, in denen ein wiederholter Idempotenzschlüssel als Duplikat gilt.",
    "Largest request body in bytes.": "Größte Anfrage in Bytes.",
    "Days of inactivity after which a page is signed out.": "Tage ohne Anfrage, nach denen eine Seite abgemeldet wird.",
    "TCP port; 0 takes a free one.": "TCP-Port; 0 nimmt einen freien.",
    "The HTTPS URL that providers call.": "Die HTTPS-URL, die Anbieter aufrufen.",
    "Most clients tracked by the limiter; the least recent is dropped first. 0: the default.":
      "So viele Clients zählt der Begrenzer höchstens; die am längsten untätigen fallen weg. 0 ist der Standard.",
    "POST /webhook requires a bearer token from pairing.": "POST /webhook braucht ein Bearer-Token aus einer Kopplung.",
    "Refuse webhooks without a configured secret instead of trusting them.":
      "Ein Webhook ohne gesetztes Geheimnis wird abgewiesen, statt ihm zu vertrauen.",
    "Read the client's address from X-Forwarded-For / X-Real-IP of a trusted proxy.":
      "Die Adresse des Clients aus X-Forwarded-For / X-Real-IP eines vertrauenswürdigen Proxys nehmen.",
    "Peers whose forwarding headers count: addresses or CIDR ranges.":
      "Gegenstellen, deren Weiterleitungs-Header zählen: Adressen oder CIDR-Bereiche.",
    "Requests per minute and client on /webhook; 0: no limit.":
      "Anfragen pro Minute und Client auf /webhook; 0 schaltet die Grenze ab.",
    "Vendor library for Aardvark adapters, such as /opt/aardvark/aardvark.so. Default: the usual paths.":
      "Bibliothek des Herstellers für Aardvark-Adapter, etwa /opt/aardvark/aardvark.so. Standard: die üblichen Pfade.",
    "Detect connected boards and give agents tools for them.":
      "Angeschlossene Boards finden und den Agenten Werkzeuge dafür geben.",
    "Folder of firmware images for pico_flash, absolute or below the home.":
      "Ordner der Firmware-Images für pico_flash, absolut oder unterhalb des Datenverzeichnisses.",
    "I2C buses of this computer for the I2C tools, such as /dev/i2c-1.":
      "I2C-Busse dieses Rechners, die die I2C-Werkzeuge verwenden dürfen, etwa /dev/i2c-1.",
    "Also write the log to the logs folder of the home; svc logs shows it.":
      "Das Protokoll auch im Ordner logs des Datenverzeichnisses aufbewahren; svc logs zeigt es.",
    "Lowest level to write.": "Geringste Stufe, die geschrieben wird.",
    "Size in megabytes at which a log file is rotated.": "Megabyte, nach denen eine Protokolldatei abgelöst wird.",
    "Log files kept, the current one included.": "Aufbewahrte Protokolldateien, die aktuelle eingeschlossen.",
    "API key of the provider.": "API-Schlüssel des Anbieters.",
    "API base URL; required for openai-compatible.": "Basis-URL der API; für openai-compatible erforderlich.",
    "Other models of the same provider that people may choose in a conversation, by /model.":
      "Weitere Modelle desselben Anbieters, die in einer Unterhaltung mit /model gewählt werden können.",
    "Maximum tokens of one answer.": "Höchstzahl an Tokens in einer Antwort.",
    "Retries of a failed model call, with back-off.":
      "Wiederholungen eines fehlgeschlagenen Modellaufrufs, mit wachsenden Pausen.",
    "Model name as the provider spells it.": "Name des Modells, wie ihn der Anbieter schreibt.",
    "US dollars for a million input tokens.": "US-Dollar für eine Million Eingabetokens.",
    "US dollars for a million output tokens.": "US-Dollar für eine Million Ausgabetokens.",
    "Model provider. builtin needs no key and no network.":
      "Wer antwortet. builtin braucht keinen Schlüssel und kein Netz.",
    "Client id, under which the broker keeps the session while svc is down. It must be unique. Default: generated at the first start and kept.":
      "Name der Sitzung, die der Broker behält, während svc nicht läuft. Jeder Client braucht einen eigenen. Standard: Beim ersten Start wird einer erzeugt und behalten.",
    "Password of that user.": "Passwort dieses Benutzers.",
    "PEM file of certificate authorities to trust for the broker, instead of the system's.":
      "PEM-Datei der Zertifizierungsstellen, von denen das Zertifikat des Brokers sein darf, statt der üblichen.",
    "Topic filters to subscribe to, with QoS 1. Triggers see only messages that match one of them.":
      "Topic-Filter, die mit QoS 1 abonniert werden. Ein Auslöser eines Ablaufs sieht nur Nachrichten, auf die einer davon passt.",
    "Address of the broker. mqtts:// is encrypted; mqtt:// is refused for public addresses. Default ports: 1883 and 8883.":
      "Adresse des Brokers. mqtts:// ist verschlüsselt; mqtt:// wird für öffentliche Adressen abgelehnt. Standardports: 1883 und 8883.",
    "User name at the broker.": "Benutzername beim Broker.",
    "Where observations go: none (none, noop), the log (a line for each turn and delivery), GET /metrics, or an OTLP collector (otel, opentelemetry, otlp).":
      "Wer beobachtet: niemand (none, noop), eine Protokollzeile je Anfrage und Zustellung, GET /metrics oder Traces über OTLP (otel, opentelemetry, otlp).",
    "Base URL of the OTLP/HTTP collector; /v1/traces is added.":
      "Basis-URL des OTLP/HTTP-Collectors; /v1/traces wird angefügt.",
    "Headers for the collector, e.g. authorization=Bearer%20token; values percent-encoded.":
      "Header für den Collector, z. B. authorization=Bearer%20token; Werte prozentkodiert.",
    "Encoding of traces; every collector accepts the first.":
      "Wie Traces geschrieben werden; jeder Collector nimmt das Erste.",
    "Record messages, prompts and tool results in traces, too.":
      "Auch aufzeichnen, was Personen, Modell und Werkzeuge sagen.",
    "Share of traces to record, 0 to 1.": "Anteil der aufgezeichneten Traces, 0 bis 1.",
    "Service name in the traces.": "Name, unter dem die Traces ankommen.",
    "Boards that svc uses, besides those that [hardware] finds.":
      "Boards, die svc verwendet, neben denen, die es mit [hardware] selbst findet.",
    "Baud rate of the serial port. Default: the protocol's.":
      "Baudrate des seriellen Anschlusses. Standard: je nachdem, was das Board spricht.",
    "Board type, such as raspberry-pi-pico, arduino-uno or esp32. The alias begins with it.":
      "Welches Board es ist, etwa raspberry-pi-pico, arduino-uno oder esp32. Sein Alias beginnt damit.",
    "Serial port, such as /dev/serial/by-id/usb-…, or tcp://127.0.0.1:9999 of a bridge.":
      "Serieller Anschluss, etwa /dev/serial/by-id/usb-…, oder tcp://127.0.0.1:9999 einer Brücke.",
    "serial: a serial port. bridge: JSON lines over TCP. native: the pins of this computer.":
      "serial: ein serieller Anschluss. bridge: JSON-Zeilen über TCP. native: die Pins dieses Rechners.",
    "Pins whose changes start procedures.": "Pins, deren Änderungen Abläufe starten.",
    "Debounce: how long a level must last before it counts.": "Wie lange der Pegel anhalten muss, bevor er zählt.",
    "Edge that counts as a signal.": "Welche Änderung ein Signal ist.",
    "Name of the signal in a trigger. Default: gpio and the number of the pin.":
      "Name des Signals in einem Auslöser. Standard: gpio und die Nummer des Pins.",
    "Number of the pin, as the board numbers them.": "Nummer des Pins, wie das Board sie zählt.",
    "Pull resistor of the input.": "Widerstand des Eingangs.",
    "Use the boards listed here.": "Die hier aufgeführten Boards verwenden.",
    "Give agents the tools of installed plugins.": "Die Agenten haben die Werkzeuge der installierten Plugins.",
    "Folder of the plugins, absolute or below the home.":
      "Ordner der Plugins, absolut oder unterhalb des Datenverzeichnisses.",
    "Most conversations kept, the most recent first; 0 keeps all.":
      "Höchstzahl aufbewahrter Unterhaltungen, die neuesten zuerst; 0 behält alle.",
    "Days to keep answered channel messages and their files.":
      "So viele Tage werden Nachrichten von Kanälen und ihre Dateien nach der Antwort aufbewahrt.",
    "Days after its last turn until a conversation is deleted; 0: never.":
      "So viele Tage nach der letzten Anfrage wird eine Unterhaltung aufbewahrt; 0 behält alle.",
    "Days to keep the journal of tool calls.": "So viele Tage wird das Journal der Werkzeugaufrufe aufbewahrt.",
    "Encrypt the secrets of this file with the key file of the home.":
      "Die Geheimnisse dieser Datei mit der Schlüsseldatei des Datenverzeichnisses verschlüsseln.",
    "host:port pairs on private addresses that outgoing requests may reach.":
      "Paare host:port privater Adressen, die ausgehende Anfragen erreichen dürfen.",
    "Commands that shell may run without an approval; * is every command. Listing a program trusts all its options: prefer `git log` to `git`.":
      "Befehle, die die Shell ohne Rückfrage ausführen darf; * ist jeder Befehl. Wer ein Programm aufführt, vertraut auch seinen Optionen: besser `git log` als `git`.",
    "Tool calls that run without an approval, exactly as a person approved them with `Always allow`. svc approvals rules lists them, svc approvals revoke removes one.":
      "Aufrufe, die ohne Rückfrage laufen, genau so, wie jemand sie mit `Always allow` freigegeben hat. svc approvals rules listet sie auf, svc approvals revoke beendet einen.",
    "Agent that makes the call.": "Der Agent, dessen Aufruf es ist.",
    "Command line, for tools that run one. It is compared word by word.":
      "Die Befehlszeile, bei einem Werkzeug, das eine ausführt. Sie wird Wort für Wort verglichen.",
    "Working directory of the command, relative to the workspace. Default: its root.":
      "Wo die Zeile läuft, relativ zum Arbeitsbereich. Standard: an seiner Wurzel.",
    "All other arguments of the call, as JSON.": "Alle weiteren Argumente des Aufrufs, als JSON.",
    "Name of the tool.": "Das Werkzeug, das aufgerufen wird.",
    "read_only refuses acting tools, supervised asks for approval, full runs them.":
      "read_only lehnt handelnde Werkzeuge ab, supervised fragt eine Person, full führt sie aus.",
    "Paths that file tools must not touch, absolute or relative to the workspace.":
      "Pfade, die kein Dateiwerkzeug anfassen darf, absolut oder relativ zum Arbeitsbereich.",
    "Acting tool calls allowed per hour; 0: no limit.": "Erlaubte handelnde Aufrufe pro Stunde; 0 ist keine Grenze.",
    "File tools stay inside the workspace.": "Dateiwerkzeuge bleiben im Arbeitsbereich.",
    "Sandbox backend. auto: the strongest available. none: no confinement.":
      "auto nimmt die stärkste verfügbare; none schränkt nichts ein.",
    "Image of the container backend. It must exist on this machine; svc never pulls images. Default: debian:stable-slim.":
      "Image des Container-Backends. Es muss auf diesem Rechner liegen: Es wird keines geholt. Standard: debian:stable-slim.",
    "Seconds of processor time of a command. Default: no limit but timeout_secs.":
      "Sekunden Prozessorzeit eines Befehls. Standard: keine Grenze außer timeout_secs.",
    "Confine commands.": "Befehle einschränken.",
    "Megabytes of memory for a command and its child processes. Default: 2048.":
      "Megabyte Arbeitsspeicher für einen Befehl und alles, was er startet. Standard: 2048.",
    "Commands may reach the network.": "Befehle dürfen ins Netz.",
    "Processes and threads of a command. Default: 256.": "Prozesse und Threads eines Befehls. Standard: 256.",
    "Absolute paths that commands may read, besides the workspace and system libraries.":
      "Absolute Pfade, die Befehle lesen dürfen, neben dem Arbeitsbereich und dem, was Programme zum Laufen brauchen.",
    "Refuse to run commands if the configured backend is not available.":
      "Keine Befehle ausführen, wenn das verlangte Backend nicht verfügbar ist.",
    "Seconds a command may run.": "So viele Sekunden darf ein Befehl laufen.",
    "Absolute paths that commands may write, besides the workspace.":
      "Absolute Pfade, die Befehle schreiben dürfen, neben dem Arbeitsbereich.",
    "Turns passkeys on.": "Schaltet Passkeys ein.",
    "Name that the browser shows.": "Name, den der Browser anzeigt.",
    "Let a passkey sign in without a bearer token; this opens the auth endpoints.":
      "Lässt einen Passkey ohne Bearer anmelden: Die Auth-Endpunkte sind dann offen.",
    "Default execution mode of procedures.": "Wie ein Ablauf ausgeführt wird, der es nicht selbst angibt.",
    "Runs of procedures at the same time, waiting ones included.":
      "Höchstzahl gleichzeitiger Läufe von Abläufen; wartende zählen mit.",
    "Tools to withhold from the agent.": "Werkzeuge, die der Agent nicht hat.",
    "Bearer key of that service.": "Bearer-Schlüssel dieses Dienstes.",
    "Base URL of a service with OpenAI's /audio/transcriptions.":
      "Basis-URL eines Dienstes mit OpenAIs /audio/transcriptions.",
    "Transcribe recordings that people send.": "Gesendete Aufnahmen in Text umwandeln.",
    "ISO 639-1 code of the spoken language. Default: the service detects it.":
      "ISO-639-1-Code der gesprochenen Sprache. Standard: Der Dienst findet es heraus.",
    "Largest recording sent to it, in bytes.": "Größte Aufnahme, die gesendet wird, in Bytes.",
    "Transcription model.": "Modell, das transkribiert.",
    "Base URL of a service with OpenAI's /audio/speech.": "Basis-URL eines Dienstes mit OpenAIs /audio/speech.",
    "Longest text sent to it, in characters; longer text is cut at a sentence.":
      "Längster Text, der gesendet wird, in Zeichen; längere werden an einem Satz gekürzt.",
    "Speech model.": "Modell, das spricht.",
    "Voice, as that service names it.": "Stimme, wie der Dienst sie nennt.",
    "Working directory of tools, absolute or below the home. Default: workspace.":
      "Arbeitsverzeichnis der Werkzeuge, absolut oder unterhalb des Datenverzeichnisses. Standard: workspace.",
    "Speak answers to microphone commands on this machine's loudspeaker.":
      "Antworten auf das, was das Mikrofon gehört hat, über den Lautsprecher dieses Rechners sprechen.",
    "Name of the linked session in the encrypted store. Setting it selects Web mode.":
      "Name der gekoppelten Sitzung im verschlüsselten Speicher; damit gilt der Web-Modus.",
    "Web mode: phone number of the account, to link by a typed code. Default: link by a QR code.":
      "Web-Modus: Telefonnummer des Kontos, um mit einem eingetippten Code zu koppeln; ohne sie mit einem QR-Code.",
    "Web mode. business: the account belongs to the agent. personal: it is yours; only listed numbers are answered, including you in the chat with yourself.":
      "Web-Modus. business: Das Konto gehört dem Agenten. personal: Es ist dein eigenes; geantwortet wird nur den aufgeführten Nummern, dir selbst im Chat mit dir.",
    "Web mode, in groups. allowlist: answer people in allowed_numbers. ignore: don't answer.":
      "Web-Modus. allowlist: In Gruppen gilt, was Nummern aus allowed_numbers schreiben. ignore: Gruppen werden nicht beachtet.",
    "Web mode: in groups, answer only messages that mention the account or reply to it.":
      "Web-Modus: in Gruppen nur auf Nachrichten antworten, die das Konto erwähnen oder ihm antworten.",
    "Web mode: version of the web client to report. Set it if the platform rejects the built-in one.":
      "Web-Modus: Version des Web-Clients, die der Plattform genannt wird, wenn sie die eingebaute ablehnt.",
    "Web mode: public key that signs the certificate of a test server. Needs an api_url on this machine.":
      "Web-Modus: öffentlicher Schlüssel, der das Zertifikat eines Testservers signiert. Braucht eine api_url auf diesem Rechner.",
    "Robot kit: SafetyMonitor and SafeDrive": "Roboter: SafetyMonitor und SafeDrive",
    "Let agents drive the robot.": "Agenten dürfen den Roboter fahren.",
    "What moves the robot.": "Was den Roboter bewegt.",
    "board: motors of a board. simulated: a robot in a simulated room.":
      "board: Motoren an einem Board. simulated: ein Roboter in einem simulierten Raum.",
    "Alias of the board that has the motors, such as arduino0.": "Alias des Boards mit den Motoren, etwa arduino0.",
    "Left motor, numbered as in the board's firmware.": "Linker Motor, so wie die Firmware des Boards zählt.",
    "Right motor, numbered as in the board's firmware.": "Rechter Motor, so wie die Firmware des Boards zählt.",
    "Simulated room.": "Welcher Raum simuliert wird.",
    "The robot stops this many metres before an obstacle.": "So viele Meter vor einem Hindernis hält der Roboter an.",
    "The robot slows down within this multiple of the minimum distance.":
      "Innerhalb dieses Vielfachen des Mindestabstands fährt der Roboter langsamer.",
    "Highest speed within the slow zone and in turns, in m/s.":
      "Höchstes Tempo in der Langsamzone und in Kurven, in m/s.",
    "Highest speed, in m/s.": "Höchstes Tempo, in m/s.",
    "Highest speed in a direction without a distance sensor, in m/s; 0: no driving there.":
      "Höchstes Tempo in eine Richtung, in die kein Abstandssensor zeigt, in m/s; 0: keine Fahrt dorthin.",
    "Longest movement, in seconds.": "Längste Fahrt, in Sekunden.",
    "Age in seconds at which a sensor reading stops the robot.":
      "Ist ein Messwert älter als so viele Sekunden, hält der Roboter an.",
    "Pin of the drive board with a normally closed emergency switch to ground; HIGH: pressed, or a cut wire.":
      "Pin des Motor-Boards mit einem Öffner gegen Masse; HIGH heißt gedrückt oder Kabel getrennt.",
    "Pins of the drive board with front bump switches to ground; LOW: pressed.":
      "Pins des Motor-Boards mit Stoßschaltern vorn gegen Masse; LOW heißt gedrückt.",
    "Sensors that see obstacles. The simulator has its own.":
      "Sensoren, die Hindernisse erkennen. Der Simulator hat eigene.",
    "Alias of the board that the sensor is connected to.": "Alias des Boards, an dem der Sensor hängt.",
    "distance: distance to an obstacle in metres. bump: a bump switch.":
      "distance: Abstand in Metern. bump: ein Schalter.",
    "Pin of the sensor, numbered as in the board's firmware.": "Pin des Sensors, so wie die Firmware des Boards zählt.",
    "Direction of the sensor, in degrees clockwise: 0 ahead, 90 right, 180 behind.":
      "Blickrichtung in Grad im Uhrzeigersinn: 0 ist vorn, 90 rechts, 180 hinten.",
    "Wake word at the local microphone": "Aktivierungswort am Mikrofon dieses Rechners",
    "Wake phrase before a command; case is ignored, part of a word is enough.":
      "Was vor einem Befehl gesagt werden muss, groß oder klein geschrieben; auch ein Teil eines Wortes zählt.",
    "Milliseconds of silence that end a command.": "So viele Millisekunden Stille beenden den Befehl.",
    "Least loudness of speech (RMS, 1 is the loudest). In a noisy room, the threshold rises by itself.":
      "Ab dieser Lautstärke (RMS, höchstens 1) zählt es als Sprache; in lauten Räumen steigt die Schwelle von selbst.",
    "Longest command, in seconds; later speech is ignored.":
      "Längster Befehl, in Sekunden; was danach gesagt wird, wird nicht mehr aufgenommen.",
    "Microphone, as named by the recorder program. Default: the system's.":
      "Mikrofon, so wie das Aufnahmeprogramm es nennt. Standard: das des Systems.",
    "Program and arguments that write 16 kHz mono samples of 16 bits, started without a shell. Default: parec, arecord or ffmpeg, whichever is installed.":
      "Programm und Argumente, ohne Shell gestartet; es schreibt Mono-Samples mit 16 kHz und 16 Bit. Standard: parec, arecord oder ffmpeg, je nachdem, was installiert ist.",
    "Recordings transcribed per hour; beyond that, commands are ignored until the limit recovers.":
      "Höchstzahl an Aufnahmen, die pro Stunde transkribiert werden; danach wird nichts aufgenommen, bis die älteste eine Stunde her ist.",
    "Price of a minute of transcription in US dollars, to show the cost of the last hour.":
      "Kosten einer Minute Transkription in US-Dollar, um die Kosten der letzten Stunde zu zeigen.",
  },
};
