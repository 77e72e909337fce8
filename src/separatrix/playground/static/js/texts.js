// Every text of the page, in English and German; nothing else of the page has words of its own.

export const TEXTS = {
  title: ["separatrix playground", "separatrix-Spielplatz"],
  skip: ["Skip to the points", "Zu den Punkten springen"],
  preset: ["Points", "Punkte"],
  preset_own: ["your own", "eigene"],
  preset_separable: ["separable, margin 0.15", "trennbar, Rand 0,15"],
  preset_overlapping: ["overlapping clouds", "überlappende Wolken"],
  preset_xor: ["XOR", "XOR"],
  preset_rings: ["rings", "Ringe"],
  preset_spirals: ["spirals", "Spiralen"],
  preset_three: ["three classes", "drei Klassen"],
  preset_smallest: ["the smallest example", "das kleinste Beispiel"],
  preset_hull: ["distant hulls, many mistakes", "weit entfernte Hüllen, viele Fehler"],
  preset_orthonormal: ["five orthonormal vectors", "fünf orthonormale Vektoren"],
  preset_iris: ["irises", "Schwertlilien"],
  preset_tumours: ["breast tumors, two columns", "Brusttumoren, zwei Spalten"],
  own_data: ["Your table", "Eigene Tabelle"],
  lessons: ["Lessons", "Lektionen"],
  lessons_help: ["Each chapter of the course has a lesson; the proofs are in the course. A lesson is a series of prepared states, each with a sentence and a question.", "Zu jedem Kapitel des Kurses gibt es eine Lektion; die Beweise stehen im Kurs. Eine Lektion ist eine Folge vorbereiteter Zustände, jeder mit einem Satz und einer Frage."],
  tour: ["Tour", "Rundgang"],
  language: ["Language", "Sprache"],
  theme: ["Appearance", "Darstellung"],
  theme_auto: ["same as the system", "wie im System"],
  theme_light: ["light", "hell"],
  theme_dark: ["dark", "dunkel"],
  close: ["Close", "Schließen"],
  cancel: ["Cancel", "Abbrechen"],
  back: ["Back", "Zurück"],
  next: ["Next", "Weiter"],
  question: ["Question:", "Frage:"],
  show_answer: ["Answer", "Antwort"],

  points: ["Points", "Punkte"],
  tools: ["Tools for points", "Werkzeuge für Punkte"],
  tool: ["Tool", "Werkzeug"],
  tool_add: ["Add and move points (A)", "Punkte setzen und verschieben (A)"],
  tool_add_short: ["Add", "Setzen"],
  tool_cloud: ["Draw a cloud of points (C)", "Punktwolke zeichnen (C)"],
  tool_cloud_short: ["Cloud", "Wolke"],
  tool_lasso: ["Select points with a lasso (L)", "Punkte mit dem Lasso wählen (L)"],
  tool_lasso_short: ["Lasso", "Lasso"],
  tool_erase: ["Delete points (E)", "Punkte löschen (E)"],
  tool_erase_short: ["Delete", "Löschen"],
  class: ["Class of new points", "Klasse neuer Punkte"],
  class_button: ["Class {name} ({key})", "Klasse {name} ({key})"],
  class_more: ["One more class", "Noch eine Klasse"],
  edit: ["Edit", "Bearbeiten"],
  undo: ["Undo (Ctrl+Z)", "Rückgängig (Strg+Z)"],
  redo: ["Redo (Ctrl+Y)", "Wiederholen (Strg+Y)"],
  clear: ["Delete all points", "Alle Punkte löschen"],
  plot_label: ["Points and the separating hyperplane", "Punkte und die trennende Hyperebene"],
  plot_help: ["Click to add a point, drag to move it.", "Ein Klick setzt einen Punkt, Ziehen verschiebt ihn."],
  plot_keys: ["Keyboard: arrows move, Enter adds, [ and ] select, Ctrl+A selects all, Delete deletes, 1 to 4 choose the class, Space plays, comma and full stop step, M goes to the next mistake, F fits the view.", "Tastatur: Die Pfeiltasten bewegen, Enter setzt, [ und ] wählen aus, Strg+A wählt alle, Entf löscht, 1 bis 4 wählen die Klasse, die Leertaste spielt ab, Komma und Punkt gehen einen Schritt, M springt zum nächsten Fehler, F passt die Ansicht an."],
  empty: ["Click to add a point here. Choose another class above for the next one.", "Klicken Sie, um hier einen Punkt zu setzen. Wählen Sie oben eine andere Klasse für den nächsten."],
  lasso_menu: ["What to do with the selected points", "Was mit den ausgewählten Punkten geschehen soll"],
  lasso_delete: ["Delete {count}", "{count} löschen"],
  lasso_to: ["make them {name}", "zu {name} machen"],
  selected: ["{count} points selected", "{count} Punkte ausgewählt"],
  point_is: ["Point {row}, class {name}, at {at}", "Punkt {row}, Klasse {name}, bei {at}"],
  cursor_at: ["Cursor at {at}", "Zeiger bei {at}"],
  not_flat: ["These points have more than two columns. The picture shows them in the direction of w and perpendicular to it, so they cannot be moved.", "Diese Punkte haben mehr als zwei Spalten. Das Bild zeigt sie in Richtung von w und senkrecht dazu; deshalb lassen sie sich nicht verschieben."],

  timeline: ["Time", "Zeit"],
  to_start: ["To the start (Home)", "Zum Anfang (Pos1)"],
  step_back: ["One step back (comma)", "Ein Schritt zurück (Komma)"],
  play: ["Play (Space)", "Abspielen (Leertaste)"],
  pause: ["Pause (Space)", "Anhalten (Leertaste)"],
  step_next: ["One step forward (full stop)", "Ein Schritt vor (Punkt)"],
  next_mistake: ["To the next mistake (M)", "Zum nächsten Fehler (M)"],
  to_end: ["To the end (End)", "Zum Ende (Ende)"],
  moment: ["Moment of the run", "Zeitpunkt des Laufs"],
  speed: ["Speed", "Tempo"],
  no_steps: ["This method has no steps to watch: it solves the whole problem at once.", "Dieses Verfahren hat keine Schritte, denen man zusehen kann: Es löst die ganze Aufgabe auf einmal."],
  at_look: ["visit {at} of {of}, mistake {made} of {all}", "Besuch {at} von {of}, Fehler {made} von {all}"],
  at_update: ["update {at} of {of}", "Korrektur {at} von {of}"],

  verdict: ["Verdict", "Urteil"],
  waiting: ["Searching for a proof …", "Ein Beweis wird gesucht …"],
  starting: ["Starting. The first time takes about a minute, because code is compiled for this machine.", "Das Programm startet. Beim ersten Mal dauert das etwa eine Minute, weil Code für diesen Rechner kompiliert wird."],
  no_verdict: ["Two classes are needed for a verdict.", "Für ein Urteil braucht es zwei Klassen."],
  status_separable: ["Separable", "Trennbar"],
  "status_quasi-separable": ["Quasi-separable", "Quasi-trennbar"],
  status_overlapping: ["Overlapping", "Überlappend"],
  status_inseparable: ["Not separable", "Nicht trennbar"],
  status_undecided: ["Undecided", "Unentschieden"],
  means_separable: ["Some hyperplane has every point strictly on the correct side.", "Es gibt eine Hyperebene, bei der jeder Punkt strikt auf der richtigen Seite liegt."],
  proved_certificate: ["Proved exactly.", "Exakt bewiesen."],
  proved_margin: ["Shown by a positive margin; there is no exact certificate for this kernel.", "Gezeigt durch einen positiven Rand; ein exaktes Zertifikat gibt es für diesen Kernel nicht."],
  proved_theorem: ["Follows from a theorem about this kernel; there is no exact certificate.", "Folgt aus einem Satz über diesen Kernel; ein exaktes Zertifikat gibt es nicht."],
  "means_quasi-separable": ["Some hyperplane has no point on the wrong side, and at least one strictly on the correct side; but no hyperplane has all points strictly on the correct side.", "Es gibt eine Hyperebene, bei der kein Punkt auf der falschen und mindestens einer strikt auf der richtigen Seite liegt; aber bei keiner liegen alle Punkte strikt auf der richtigen Seite."],
  means_overlapping: ["Every hyperplane has at least one point on the wrong side, unless it contains all points.", "Bei jeder Hyperebene liegt mindestens ein Punkt auf der falschen Seite, außer wenn sie alle Punkte enthält."],
  means_inseparable: ["No hyperplane separates all points. Whether the classes are quasi-separable is not decided.", "Keine Hyperebene trennt alle Punkte. Ob die Klassen quasi-trennbar sind, ist nicht entschieden."],
  means_undecided: ["The search found neither a separating hyperplane nor a proof that none exists.", "Es wurde weder eine trennende Hyperebene gefunden noch ein Beweis, dass es keine gibt."],
  in_features: ["The question is about hyperplanes in the feature space of the kernel.", "Es geht um Hyperebenen im Merkmalsraum des Kernels."],
  with_intercept: ["The question is about all hyperplanes, with an intercept.", "Es geht um alle Hyperebenen, mit Achsenabschnitt."],
  through_origin: ["The question is about hyperplanes through the origin.", "Es geht um Hyperebenen durch den Ursprung."],
  witness_common: ["The proof: with these weights, the listed points of both classes have the same mean, {at}. So this point lies in both convex hulls:", "Der Beweis: Mit diesen Gewichten haben die aufgeführten Punkte beider Klassen denselben Mittelwert, {at}. Dieser Punkt liegt also in beiden konvexen Hüllen:"],
  witness_sum: ["The proof: with these weights, the signed points add up to exactly zero:", "Der Beweis: Mit diesen Gewichten ist die Summe der mit Vorzeichen versehenen Punkte genau null:"],
  witness_same: ["The proof: two points at the same place have different classes.", "Der Beweis: Zwei Punkte am selben Ort haben verschiedene Klassen."],
  weighed: ["{weight} of point {row}", "{weight} von Punkt {row}"],
  weighed_against: ["{weight} of point {row} against {name}", "{weight} von Punkt {row} gegen {name}"],
  witness_more: ["and {count} more", "und {count} weitere"],
  margin_between: ["Best margin (lifted points): between {low} and {high}.", "Bester Rand (angehobene Punkte): zwischen {low} und {high}."],
  margin_kernel: ["Best margin in feature space: between {low} and {high}.", "Bester Rand im Merkmalsraum: zwischen {low} und {high}."],
  margin_origin: ["Best margin of hyperplanes through the origin: between {low} and {high}.", "Bester Rand von Hyperebenen durch den Ursprung: zwischen {low} und {high}."],
  margin_zero: ["No hyperplane has a positive margin.", "Keine Hyperebene hat einen positiven Rand."],
  download_certificate: ["Download the certificate", "Zertifikat herunterladen"],
  verify: ["Verify it", "Prüfen"],
  verified: ["The checker, which is independent of the solver, accepts it: {reason}", "Das Prüfprogramm, das vom Löser unabhängig ist, akzeptiert es: {reason}"],
  refused: ["The checker rejects it: {reason}", "Das Prüfprogramm lehnt es ab: {reason}"],
  whole: ["all", "alles"],
  fraction_1_2: ["one half", "ein halb"],
  fraction_1_3: ["one third", "ein Drittel"],
  fraction_2_3: ["two thirds", "zwei Drittel"],
  fraction_1_4: ["one quarter", "ein Viertel"],
  fraction_3_4: ["three quarters", "drei Viertel"],
  fraction_1_5: ["one fifth", "ein Fünftel"],
  fraction_2_5: ["two fifths", "zwei Fünftel"],
  fraction_3_5: ["three fifths", "drei Fünftel"],
  fraction_4_5: ["four fifths", "vier Fünftel"],

  step: ["This step", "Dieser Schritt"],
  step_none: ["Nothing has run yet.", "Es wurde noch nichts berechnet."],
  step_zero: ["The start: w = 0, so every point has the score zero, which counts as a mistake. Press play, or step.", "Der Anfang: w = 0, also hat jeder Punkt den Score null, und das zählt als Fehler. Spielen Sie den Lauf ab, oder gehen Sie schrittweise vor."],
  step_start: ["The start: w = {w}. Press play, or step.", "Der Anfang: w = {w}. Spielen Sie den Lauf ab, oder gehen Sie schrittweise vor."],
  step_row: ["Point {row}, class {name}, at {at}.", "Punkt {row}, Klasse {name}, bei {at}."],
  step_score: ["Its score is {score}", "Sein Score ist {score}"],
  step_right: ["above 0: correct, nothing changes.", "über 0: richtig, nichts ändert sich."],
  step_mistake: ["not above 0: a mistake.", "nicht über 0: ein Fehler."],
  step_taken: ["The perceptron predicted {name}.", "Das Perzeptron hat {name} vorhergesagt."],
  step_update: ["The update", "Die Korrektur"],
  step_w: ["w before and after", "w vorher und nachher"],
  step_kernel: ["The count of point {row} is now {count}.", "Der Zähler von Punkt {row} steht jetzt bei {count}."],
  step_unit: ["Then w is scaled to length one.", "Dann wird w auf Länge eins gebracht."],
  step_end: ["The end.", "Das Ende."],
  solved: ["Solved at once.", "Auf einmal gelöst."],
  solved_plane: ["The hyperplane: {plane}", "Die Hyperebene: {plane}"],
  solved_margin: ["Its margin is at least {low}, and no hyperplane has a margin above {high}.", "Ihr Rand ist mindestens {low}, und keine Hyperebene hat einen Rand über {high}."],
  solved_objective: ["The objective is {value}; no weights have an objective below {bound}.", "Der Zielfunktionswert ist {value}; keine Gewichte haben einen kleineren als {bound}."],
  solved_value: ["Value of the linear program: {value}.", "Wert des linearen Programms: {value}."],
  solved_support: ["{count} points determine it.", "{count} Punkte bestimmen sie."],
  ended_separated: ["Separated: a pass over all points found no mistake.", "Getrennt: Ein Durchlauf über alle Punkte fand keinen Fehler."],
  ended_inseparable: ["The weights returned to an earlier state: no hyperplane separates these points.", "Die Gewichte kehrten zu einem früheren Zustand zurück: Keine Hyperebene trennt diese Punkte."],
  ended_pass_limit: ["The run stopped because it reached the maximum number of passes.", "Der Lauf endete, weil die Höchstzahl der Durchläufe erreicht war."],
  ended_update_limit: ["The run stopped because it reached the maximum number of updates.", "Der Lauf endete, weil die Höchstzahl der Korrekturen erreicht war."],
  ended_time_limit: ["The run stopped because it reached the time limit.", "Der Lauf endete, weil das Zeitlimit erreicht war."],
  errors_left: ["{count} of {all} points are not on the correct side.", "{count} von {all} Punkten liegen nicht auf der richtigen Seite."],
  shown_average: ["The hyperplane shown at the end is that of the mean of all weights.", "Die am Ende gezeigte Hyperebene gehört zum Mittel aller Gewichte."],
  shown_vote: ["The regions shown at the end are the result of a vote of all weights.", "Die am Ende gezeigten Gebiete ergeben sich aus der Abstimmung aller Gewichte."],

  method_title: ["Method", "Verfahren"],
  method: ["Method", "Verfahren"],
  method_perceptron: ["perceptron", "Perzeptron"],
  method_kernel: ["kernel perceptron", "Kernel-Perzeptron"],
  method_max_margin: ["largest margin", "größter Rand"],
  method_soft_margin: ["soft margin", "weicher Rand"],
  method_linear_program: ["linear program", "lineares Programm"],
  order: ["Order of visits", "Reihenfolge"],
  order_cyclic: ["in turn", "der Reihe nach"],
  order_shuffled: ["shuffled", "gemischt"],
  order_worst: ["worst first", "den schlechtesten zuerst"],
  order_working_set: ["working set", "Arbeitsmenge"],
  start: ["Start", "Start"],
  start_zeros: ["zero", "null"],
  start_random: ["random", "zufällig"],
  rate: ["Learning rate", "Lernrate"],
  average: ["Predict with", "Vorhersage mit"],
  average_last: ["the last weights", "letzten Gewichten"],
  average_averaged: ["their mean", "ihrem Mittel"],
  average_voted: ["their vote", "ihrer Abstimmung"],
  lift: ["Lifted: the hyperplane need not pass through the origin", "Angehoben: Die Hyperebene muss nicht durch den Ursprung gehen"],
  renormalise: ["Scale w to length one after each update", "w nach jeder Korrektur auf Länge eins bringen"],
  passes: ["Maximum number of passes", "Höchstzahl der Durchläufe"],
  updates: ["Maximum number of updates", "Höchstzahl der Korrekturen"],
  seed: ["Seed", "Startwert (Seed)"],
  kernel: ["Kernel", "Kernel"],
  kernel_is: ["K(x, x′) = {formula}", "K(x, x′) = {formula}"],
  block_linear: ["linear", "linear"],
  block_polynomial: ["polynomial", "Polynom"],
  block_gaussian: ["Gaussian", "Gauß"],
  block_geometric: ["geometric sum", "geometrische Summe"],
  block_sum: ["sum  +", "Summe  +"],
  block_product: ["product  ·", "Produkt  ·"],
  block_scaled: ["scale  c ·", "skaliert  c ·"],
  block_shifted: ["plus c", "plus c"],
  block_power: ["power  ^", "Potenz  ^"],
  block_exp: ["exp", "exp"],
  block_around: ["Around the whole kernel:", "Um den ganzen Kernel:"],
  block_unwrap: ["Remove this block and keep what is inside", "Diesen Baustein entfernen und den Inhalt behalten"],
  block_kind: ["Kind of block", "Art des Bausteins"],
  block_degree: ["Degree", "Grad"],
  block_degree_short: ["degree", "Grad"],
  block_c_short: ["c", "c"],
  block_exponent_short: ["^", "^"],
  block_c: ["Constant c", "Konstante c"],
  block_exponent: ["Exponent", "Exponent"],
  block_add: ["Add a block", "Baustein hinzufügen"],
  block_remove: ["Remove this block", "Diesen Baustein entfernen"],
  budget: ["Maximum number of support vectors (empty: no limit)", "Höchstzahl der Stützvektoren (leer: unbegrenzt)"],
  intercept: ["Intercept", "Achsenabschnitt"],
  intercept_free: ["free", "frei"],
  intercept_lifted: ["part of the norm", "Teil der Norm"],
  C: ["C, the cost of a unit of loss", "C, die Kosten einer Einheit Verlust"],
  form: ["Form", "Form"],
  form_primal: ["primal", "primal"],
  form_dual: ["dual", "dual"],

  curves: ["The proof, step by step", "Der Beweis, Schritt für Schritt"],
  chart_mistakes: ["Mistakes so far", "Fehler bisher"],
  chart_mistakes_bound: ["Mistakes so far; at most {bound} ({name})", "Fehler bisher; höchstens {bound} ({name})"],
  chart_bracket: ["The best margin lies in this band", "Der beste Rand liegt in diesem Band"],
  chart_progress: ["⟨w, u⟩ and its lower bound", "⟨w, u⟩ und seine untere Schranke"],
  chart_progress_none: ["⟨w, u⟩ needs a separating vector u, and none is known", "Für ⟨w, u⟩ braucht man einen trennenden Vektor u, und es ist keiner bekannt"],
  chart_length: ["|w|² and its upper bound", "|w|² und seine obere Schranke"],
  chart_length_none: ["|w|² after each mistake", "|w|² nach jedem Fehler"],
  chart_x: ["mistakes", "Fehler"],
  chart_looks: ["visits", "Besuche"],
  chart_bound: ["bound {bound}", "Schranke {bound}"],
  chart_described: ["{title}: {value} after {at} {unit}", "{title}: {value} nach {at} {unit}"],
  no_curves: ["Only the perceptrons have curves, because the other methods do not make mistakes one by one.", "Kurven gibt es nur für die Perzeptron-Verfahren, denn die anderen machen keine einzelnen Fehler."],

  ledger: ["Counts", "Zähler"],
  ledger_label: ["All points and their counts", "Alle Punkte und ihre Zähler"],
  ledger_row: ["point", "Punkt"],
  ledger_class: ["class", "Klasse"],
  ledger_count: ["mistakes", "Fehler"],
  ledger_carried: ["multiplier", "Multiplikator"],
  ledger_given: ["predicted", "vorhergesagt"],
  ledger_more: ["The list shows the {count} points with the most mistakes.", "Die Liste zeigt die {count} Punkte mit den meisten Fehlern."],
  ledger_show: ["Show point {row}", "Punkt {row} zeigen"],

  lift3d: ["The radial lift", "Die radiale Anhebung"],
  lift3d_help: ["Each point (x, y) is lifted to the height x² + y². Turn the picture by dragging or with the arrow keys.", "Jeder Punkt (x, y) wird auf die Höhe x² + y² angehoben. Drehen Sie das Bild durch Ziehen oder mit den Pfeiltasten."],
  lift3d_label: ["The lifted points in three dimensions; arrow keys turn them", "Die angehobenen Punkte in drei Dimensionen; Pfeiltasten drehen sie"],
  lift3d_separable: ["Up there a plane separates the classes; its margin is {margin}.", "Dort oben trennt eine Ebene die Klassen; ihr Rand ist {margin}."],
  lift3d_not: ["Up there no plane separates them either ({status}).", "Auch dort oben trennt sie keine Ebene ({status})."],
  lift3d_two: ["The lift is drawn for points with two columns.", "Die Anhebung wird für Punkte mit zwei Spalten gezeichnet."],

  take_away: ["Save and share", "Speichern und teilen"],
  copy_link: ["Copy the link", "Link kopieren"],
  film: ["Film (GIF)", "Film (GIF)"],
  copy_code: ["Copy the Python code", "Python-Code kopieren"],
  code: ["Python code that does the same:", "Python-Code, der dasselbe tut:"],
  copied: ["Copied.", "Kopiert."],
  not_copied: ["The browser does not allow copying. The text is selected: press Ctrl+C.", "Der Browser erlaubt das Kopieren nicht. Der Text ist markiert: Drücken Sie Strg+C."],
  link_too_long: ["There are too many points for a link. Save them as CSV.", "Für einen Link sind es zu viele Punkte. Speichern Sie sie als CSV."],
  link_newer: ["This link was made by a newer version of separatrix. Install that version to open it.", "Dieser Link stammt von einer neueren Version von separatrix. Installieren Sie diese Version, um ihn zu öffnen."],
  link_broken: ["This link cannot be read; it may have been cut off.", "Dieser Link ist nicht lesbar. Vielleicht wurde er abgeschnitten."],
  filming: ["Making the film …", "Der Film wird erstellt …"],
  saved: ["Saved {name}.", "{name} gespeichert."],
  foot: ["The separatrix program that serves this page computes everything. Nothing is sent anywhere else.", "Alles berechnet das Programm separatrix, das diese Seite bereitstellt. Nichts wird an andere gesendet."],

  table_help: ["Paste a table, or drop a file here. The columns are separated by commas, semicolons or tabs, and the first line has their names.", "Fügen Sie eine Tabelle ein, oder ziehen Sie eine Datei hierher. Die Spalten sind durch Kommas, Semikolons oder Tabulatoren getrennt, und die erste Zeile enthält ihre Namen."],
  table_text: ["Table", "Tabelle"],
  table_file: ["or a file:", "oder eine Datei:"],
  table_target: ["Target column", "Zielspalte"],
  table_features: ["Columns to use: two are shown as they are; with more, the picture shows the direction of w and one perpendicular to it", "Spalten: Zwei werden gezeigt, wie sie sind; bei mehr Spalten zeigt das Bild die Richtung von w und eine dazu senkrechte"],
  table_scale: ["Scale each column to mean 0 and standard deviation 1", "Jede Spalte auf Mittelwert 0 und Standardabweichung 1 bringen"],
  table_read: ["Read the table", "Tabelle lesen"],
  table_use: ["Use these points", "Diese Punkte verwenden"],
  table_two: ["Choose at least two columns of numbers.", "Wählen Sie mindestens zwei Zahlenspalten."],
  table_classes: ["The target has {count} different values; the playground can show 2 to {most}.", "Die Zielspalte hat {count} verschiedene Werte; 2 bis {most} lassen sich zeigen."],
  table_skipped: ["{count} incomplete rows were left out.", "{count} unvollständige Zeilen wurden weggelassen."],
  table_done: ["{count} points read.", "{count} Punkte gelesen."],

  error_one_class: ["Add points of a second class: two are needed to separate anything.", "Setzen Sie Punkte einer zweiten Klasse: Zum Trennen braucht man zwei Klassen."],
  error_not_separable: ["This method needs classes that can be separated. {message} Try the soft margin.", "Dieses Verfahren braucht trennbare Klassen. {message} Versuchen Sie den weichen Rand."],
  error_too_many_points: ["There are {got} points, and the playground allows at most {most}. The command separatrix check takes any number.", "Es sind {got} Punkte, und der Spielplatz erlaubt höchstens {most}. Der Befehl separatrix check nimmt beliebig viele."],
  error_invalid: ["The playground cannot use this request. {message}.", "Der Spielplatz kann diese Anfrage nicht verwenden. {message}."],
  error_kernel_too_large: ["A kernel may have at most {blocks} blocks, {depth} levels of nesting and degree {degree}.", "Ein Kernel darf höchstens {blocks} Bausteine, {depth} Verschachtelungsebenen und Grad {degree} haben."],
  error_kernel_range: ["The kernel has values above {most} on these points or on the picture around them. Scale the kernel or the columns down.", "Der Kernel hat auf diesen Punkten oder im Bild um sie herum Werte über {most}. Skalieren Sie den Kernel oder die Spalten herunter."],
  error_kernel_order: ["The kernel perceptron visits points in turn or shuffled.", "Das Kernel-Perzeptron besucht die Punkte der Reihe nach oder gemischt."],
  error_too_slow: ["This took longer than {seconds} seconds and was stopped. Use fewer points or steps.", "Das dauerte länger als {seconds} Sekunden und wurde abgebrochen. Verwenden Sie weniger Punkte oder Schritte."],
  error_too_large: ["The request has more than {most} bytes. Use fewer points.", "Die Anfrage hat mehr als {most} Bytes. Verwenden Sie weniger Punkte."],
  error_busy: ["The playground is busy. Try again in a moment.", "Der Spielplatz ist ausgelastet. Versuchen Sie es gleich noch einmal."],
  error_memory: ["This needs more memory than is allowed. Use fewer points or steps.", "Das braucht mehr Speicher als erlaubt. Verwenden Sie weniger Punkte oder Schritte."],
  error_died: ["The process that computed this ended. Use fewer points or steps.", "Der Prozess, der das berechnete, wurde beendet. Verwenden Sie weniger Punkte oder Schritte."],
  error_gone: ["The playground has ended. Start it again with: separatrix play", "Der Spielplatz wurde beendet. Starten Sie ihn neu mit: separatrix play"],
  error_needs_server: ["This page does not have it. Run it on your machine: pip install 'separatrix[play]', then separatrix play", "Diese Seite kann das nicht. Auf Ihrem Rechner geht es: pip install 'separatrix[play]', dann separatrix play"],
  error_no_film: ["A film shows the updates one after the other, and this run has too few to show: {made}.", "Ein Film zeigt die Korrekturen nacheinander, und dieser Lauf hat dafür zu wenige: {made}."],
  error_no_steps: ["This method has no steps to film: it solves one problem for all points at once. Save the picture as PNG or SVG.", "Dieses Verfahren hat keine Schritte für einen Film: Es löst eine einzige Aufgabe für alle Punkte zugleich. Speichern Sie das Bild als PNG oder SVG."],
  error_missing_package: ["This needs {name}. Install it in the project's folder with: pip install '.[plot]'", "Dafür wird {name} gebraucht. Installieren Sie es im Ordner des Projekts mit: pip install '.[plot]'"],
  error_other: ["{message}", "{message}"],

  tour_close: ["End the tour", "Rundgang beenden"],
  tour_count: ["Stop {at} of {of}", "Station {at} von {of}"],
  tour_1_title: ["Points", "Punkte"],
  tour_1: ["Click in the picture to add points, and drag points to move them. Choose the class above the picture. After each change the perceptron runs again from the start.", "Klicken Sie in das Bild, um Punkte zu setzen, und ziehen Sie Punkte, um sie zu verschieben. Die Klasse wählen Sie über dem Bild. Nach jeder Änderung läuft das Perzeptron noch einmal von vorn."],
  tour_2_title: ["Time", "Zeit"],
  tour_2: ["Play the run, step through it, drag the slider, or jump to the next mistake. A ring marks the point that the perceptron visits. A point is drawn larger with each mistake on it.", "Spielen Sie den Lauf ab, gehen Sie schrittweise vor, ziehen Sie den Regler, oder springen Sie zum nächsten Fehler. Ein Ring zeigt den Punkt, den das Perzeptron besucht. Mit jedem Fehler an einem Punkt wird er größer gezeichnet."],
  tour_3_title: ["This step", "Dieser Schritt"],
  tour_3: ["This shows what happened: the score of the point, and the update with its numbers.", "Hier steht, was geschah: der Score des Punktes und die Korrektur mit ihren Zahlen."],
  tour_4_title: ["Verdict", "Urteil"],
  tour_4: ["Can the classes be separated? The answer comes with its proof, or says that it is undecided. If no hyperplane separates them, a few points with fractions as weights prove it, and anyone can check the certificate.", "Sind die Klassen trennbar? Die Antwort kommt mit ihrem Beweis, oder sie lautet: unentschieden. Wenn keine Hyperebene sie trennt, beweisen das einige Punkte mit Brüchen als Gewichten, und jeder kann das Zertifikat prüfen."],
  tour_5_title: ["Method, save and share", "Verfahren, Speichern und Teilen"],
  tour_5: ["Try other orders, kernels and margins here. Below are the curves of the proof, a link to this state, pictures, and the Python code that does the same.", "Probieren Sie hier andere Reihenfolgen, Kernel und Ränder aus. Darunter finden Sie die Kurven des Beweises, einen Link zu diesem Zustand, Bilder und den Python-Code, der dasselbe tut."],

  lesson_0: ["Chapter 0: the perceptron, its bound, and kernels", "Kapitel 0: das Perzeptron, seine Schranke und Kernel"],
  lesson_0_1: ["A perceptron starts at w = 0 and adds every point that it gets wrong, with its sign. Step through the first mistakes.", "Ein Perzeptron beginnt mit w = 0 und addiert jeden Punkt, den es falsch zuordnet, mit seinem Vorzeichen. Gehen Sie die ersten Fehler schrittweise durch."],
  lesson_0_1_question: ["Why is the first point that it visits always a mistake?", "Warum zählt der erste besuchte Punkt immer als Fehler?"],
  lesson_0_1_answer: ["With w = 0 every score is 0. A score of zero counts as a mistake; otherwise the run would stop at w = 0, having learned nothing.", "Mit w = 0 ist jeder Score 0. Das zählt als Fehler; sonst würde der Lauf bei w = 0 enden, ohne etwas gelernt zu haben."],
  lesson_0_2: ["It is a common error to use δ, the distance between the two classes, and to conclude that a run makes at most 4R²/δ² mistakes. Here δ is 0.38, so that would be at most 27.", "Ein häufiger Irrtum ist es, den Abstand δ der beiden Klassen zu verwenden und daraus auf höchstens 4R²/δ² Fehler zu schließen. Hier ist δ = 0,38; es wären also höchstens 27."],
  lesson_0_2_question: ["How many mistakes does the run make, and what does the theorem really need?", "Wie viele Fehler macht der Lauf, und was braucht der Satz wirklich?"],
  lesson_0_2_answer: ["89. What counts is the margin γ of lines through the origin, here 0.01: the line has to pass between two points that are far apart but both close to it. The bound (R/γ)² is 10,001.", "89. Es zählt der Rand γ von Geraden durch den Ursprung, hier 0,01: Die Gerade muss zwischen zwei Punkten hindurch, die weit auseinander, aber beide nah an ihr liegen. Die Schranke (R/γ)² ist 10.001."],
  lesson_0_3: ["A ring around a disc: no line separates them. The run continues until it reaches the maximum number of updates.", "Ein Ring um eine Scheibe: Keine Gerade trennt sie. Der Lauf geht weiter, bis die Höchstzahl der Korrekturen erreicht ist."],
  lesson_0_3_question: ["Look at the radial lift below. What happens there?", "Was geschieht unten in der radialen Anhebung?"],
  lesson_0_3_answer: ["Each point is lifted to the height x² + y². The inner points stay low, the outer ones are high, and a plane passes between them.", "Jeder Punkt wird auf die Höhe x² + y² angehoben. Die inneren bleiben unten, die äußeren liegen oben, und eine Ebene geht zwischen ihnen hindurch."],
  lesson_0_4: ["The kernel trick: the same perceptron in the feature space of (1 + ⟨x, x′⟩)², without computing the coordinates there.", "Der Kernel-Trick: dasselbe Perzeptron im Merkmalsraum von (1 + ⟨x, x′⟩)², ohne die Koordinaten dort zu berechnen."],
  lesson_0_4_question: ["How many coordinates does that space have for two columns?", "Wie viele Koordinaten hat dieser Raum bei zwei Spalten?"],
  lesson_0_4_answer: ["Six: the monomials 1, x, y, x², xy, y². In general C(n + d, d).", "Sechs: die Monome 1, x, y, x², xy, y². Allgemein C(n + d, d)."],
  lesson_1: ["Chapter 1: linear programs, Rosenblatt, the margin", "Kapitel 1: lineare Programme, Rosenblatt, der Rand"],
  lesson_1_1: ["A separating line is a solution of linear inequalities, so a linear program finds one.", "Eine trennende Gerade ist eine Lösung linearer Ungleichungen; deshalb findet ein lineares Programm eine."],
  lesson_1_1_question: ["Is the line it finds the one with the largest margin?", "Ist die gefundene Gerade die mit dem größten Rand?"],
  lesson_1_1_answer: ["In general not: it maximizes the smallest score among weights between −1 and 1, not among weights of length one.", "Im Allgemeinen nicht: Das Programm maximiert den kleinsten Score unter Gewichten zwischen −1 und 1, nicht unter Gewichten der Länge eins."],
  lesson_1_2: ["Rosenblatt's update increases the score of the point that it corrects. Here the worst point is corrected each time.", "Rosenblatts Korrektur erhöht den Score des korrigierten Punktes. Hier wird jedes Mal der schlechteste korrigiert."],
  lesson_1_2_question: ["What happens to the other points?", "Was geschieht mit den anderen Punkten?"],
  lesson_1_2_answer: ["They may become wrong again: watch the line swing. The theorem says that this cannot continue forever.", "Sie können wieder falsch werden: Beobachten Sie, wie die Gerade hin und her schwingt. Der Satz sagt, dass das nicht ewig so weitergeht."],
  lesson_1_3: ["Of all separating lines, this one has the largest distance to its nearest points: it has the largest margin. These points were made so that the margin is 0.15.", "Von allen trennenden Geraden hat diese den größten Abstand zu ihren nächsten Punkten: Sie hat den größten Rand. Diese Punkte sind so gemacht, dass er 0,15 ist."],
  lesson_1_3_question: ["How many points determine it?", "Wie viele Punkte bestimmen sie?"],
  lesson_1_3_answer: ["Two, one of each class, opposite each other. Move any other point a little: nothing changes.", "Zwei, einer aus jeder Klasse, einander gegenüber. Verschieben Sie einen anderen Punkt ein wenig: Nichts ändert sich."],
  lesson_1_4: ["XOR: Minsky and Papert's example. The weights return to an earlier value, which already proves that no line separates the points.", "XOR: das Beispiel von Minsky und Papert. Die Gewichte kehren zu einem früheren Wert zurück, und schon das beweist, dass keine Gerade die Punkte trennt."],
  lesson_1_4_question: ["Which point lies in both hulls?", "Welcher Punkt liegt in beiden Hüllen?"],
  lesson_1_4_answer: ["The origin. For each class, it is the midpoint of two opposite corners.", "Der Ursprung. Für jede Klasse ist er der Mittelpunkt zweier gegenüberliegender Ecken."],
  lesson_2: ["Chapter 2: an example, the proof, and overlap", "Kapitel 2: ein Beispiel, der Beweis und Überlappung"],
  lesson_2_1: ["Two points: (1, 0) is positive, (0, 1) negative, and the line passes through the origin.", "Zwei Punkte: (1, 0) ist positiv, (0, 1) negativ, und die Gerade geht durch den Ursprung."],
  lesson_2_1_question: ["What is w after each of the two updates?", "Was ist w nach jeder der zwei Korrekturen?"],
  lesson_2_1_answer: ["(1, 0), then (1, −1). The next pass finds no mistake.", "(1, 0), dann (1, −1). Der nächste Durchlauf findet keinen Fehler."],
  lesson_2_2: ["The proof keeps track of two numbers: ⟨w, u⟩ with a separating vector u of length one, and |w|². Both are drawn below.", "Der Beweis verfolgt zwei Zahlen: ⟨w, u⟩ mit einem trennenden Vektor u der Länge eins, und |w|². Beide sind unten gezeichnet."],
  lesson_2_2_question: ["Why can they not both grow like this forever?", "Warum können nicht beide ewig so weiterwachsen?"],
  lesson_2_2_answer: ["⟨w, u⟩ is at most |w|. It grows at least like γt, while |w| grows at most like R√t; they meet at t = (R/γ)².", "⟨w, u⟩ ist höchstens |w|. Es wächst mindestens wie γt, |w| aber höchstens wie R√t; sie treffen sich bei t = (R/γ)²."],
  lesson_2_3: ["Five orthonormal signed points, shown in the direction of w and perpendicular to it: the run attains the bound exactly.", "Fünf orthonormale Punkte mit Vorzeichen, gezeigt in Richtung von w und senkrecht dazu: Der Lauf erreicht die Schranke genau."],
  lesson_2_3_question: ["What are R, γ and the number of mistakes?", "Was sind R, γ und die Zahl der Fehler?"],
  lesson_2_3_answer: ["R = 1, γ = 1/√5, and five mistakes: (R/γ)² = 5.", "R = 1, γ = 1/√5 und fünf Fehler: (R/γ)² = 5."],
  lesson_2_4: ["Overlapping clouds: no line separates them, but there is still a bound.", "Überlappende Wolken: Keine Gerade trennt sie, und doch gibt es eine Schranke."],
  lesson_2_4_question: ["What replaces the margin?", "Was tritt an die Stelle des Rands?"],
  lesson_2_4_answer: ["The hinge loss L of any vector u, summed over the mistakes of the run: there are at most R²|u|² + 2L mistakes. The curve shows a sharper bound.", "Der Hinge-Verlust L eines beliebigen Vektors u, summiert über die Fehler des Laufs: Es gibt höchstens R²|u|² + 2L Fehler. Die Kurve zeigt eine schärfere Schranke."],
  lesson_3: ["Chapter 3: the fictitious coordinate, and narrow bands", "Kapitel 3: die gedachte Koordinate und schmale Bänder"],
  lesson_3_1: ["Without the fictitious coordinate x₀ = 1 the line must pass through the origin.", "Ohne die gedachte Koordinate x₀ = 1 muss die Gerade durch den Ursprung."],
  lesson_3_1_question: ["Can these classes be separated that way? Answer, and then tick “Lifted”.", "Sind diese Klassen so trennbar? Antworten Sie, und kreuzen Sie dann „Angehoben“ an."],
  lesson_3_1_answer: ["No: the verdict proves that no line through the origin separates them. With the lift they are separable.", "Nein: Das Urteil beweist, dass keine Gerade durch den Ursprung sie trennt. Mit der Anhebung sind sie trennbar."],
  lesson_3_2: ["A wide band: the points are at a distance of 1/2 above and below the line.", "Ein breites Band: Die Punkte liegen im Abstand 1/2 über und unter der Geraden."],
  lesson_3_2_question: ["How many mistakes, and how many are allowed?", "Wie viele Fehler, und wie viele sind erlaubt?"],
  lesson_3_2_answer: ["5 of at most 21: R² = 5.25 and γ = 1/2.", "5 von höchstens 21: R² = 5,25 und γ = 1/2."],
  lesson_3_3: ["The same points with a band four times narrower.", "Dieselben Punkte mit einem viermal schmaleren Band."],
  lesson_3_3_question: ["By how much does the bound grow?", "Um wie viel wächst die Schranke?"],
  lesson_3_3_answer: ["By a factor of about sixteen, to 321; the run makes 68 mistakes. Narrow bands take longer.", "Auf etwa das Sechzehnfache, 321; der Lauf macht 68 Fehler. Schmale Bänder dauern länger."],
  lesson_3_4: ["The final w is a sum of points with their signs, each added once per mistake on it. The table of counts lists them.", "Das letzte w ist eine Summe von Punkten mit Vorzeichen; jeder wurde bei jedem Fehler an ihm einmal addiert. Die Tabelle der Zähler führt sie auf."],
  lesson_3_4_question: ["How many points does w need?", "Wie viele Punkte braucht w?"],
  lesson_3_4_answer: ["Nine of forty; they are drawn larger. There was no mistake on the others.", "Neun von vierzig; sie sind größer gezeichnet. An den anderen gab es nie einen Fehler."],
  lesson_4: ["Chapter 4: orders, starts, and many classes", "Kapitel 4: Reihenfolgen, Starts und viele Klassen"],
  lesson_4_1: ["Mistakes may be corrected in any order. Here the points are shuffled before each pass.", "Fehler dürfen in beliebiger Reihenfolge korrigiert werden. Hier werden die Punkte vor jedem Durchlauf gemischt."],
  lesson_4_1_question: ["Does the bound depend on the order? Try other seeds and orders.", "Hängt die Schranke von der Reihenfolge ab? Versuchen Sie andere Startwerte und Reihenfolgen."],
  lesson_4_1_answer: ["No, it is 333 for all of them. The number of mistakes does: 4 here, 23 in turn, 35 with the worst first.", "Nein, sie ist immer 333. Die Zahl der Fehler schon: hier 4, der Reihe nach 23, mit dem schlechtesten zuerst 35."],
  lesson_4_2: ["The first weights may be any vector; here they are random.", "Die ersten Gewichte dürfen beliebig sein; hier sind sie zufällig."],
  lesson_4_2_question: ["What changes in the curves?", "Was ändert sich an den Kurven?"],
  lesson_4_2_answer: ["They begin elsewhere: |w|² at |w₀|², ⟨w, u⟩ at ⟨w₀, u⟩, which may be negative. The bound is then the larger root of a quadratic equation.", "Sie beginnen woanders: |w|² bei |w₀|², ⟨w, u⟩ bei ⟨w₀, u⟩, was negativ sein kann. Die Schranke ist dann die größere Lösung einer quadratischen Gleichung."],
  lesson_4_3: ["Exercise 5: scale w to length one after each update.", "Übung 5: w nach jeder Korrektur auf Länge eins bringen."],
  lesson_4_3_question: ["Does Novikoff's bound still hold?", "Gilt Novikoffs Schranke noch?"],
  lesson_4_3_answer: ["It is no longer proved, because the updates do not become small relative to w. This run ends anyway; for small rates there is another bound.", "Sie ist nicht mehr bewiesen, weil die Korrekturen im Verhältnis zu w nicht mehr klein werden. Dieser Lauf endet trotzdem; für kleine Lernraten gilt eine andere Schranke."],
  lesson_4_4: ["Exercise 10: three classes with one weight vector each. A mistake changes two of them, each by half of the point.", "Übung 10: drei Klassen mit je einem Gewichtsvektor. Ein Fehler ändert zwei davon, jeden um die Hälfte des Punktes."],
  lesson_4_4_question: ["Which bound holds now?", "Welche Schranke gilt nun?"],
  lesson_4_4_answer: ["2 (R/γ)², where γ is the margin of all weights together; it is written above the curve.", "2 (R/γ)², wobei γ der Rand aller Gewichte zusammen ist; sie steht über der Kurve."],

  means_joint_separable: ["With some weights, one vector per class, every point has its largest score for its own class alone.", "Mit passenden Gewichten, einem Vektor je Klasse, hat jeder Punkt seinen größten Score nur für seine eigene Klasse."],
  "means_joint_quasi-separable": ["With some weights, no point has a larger score for another class, and not every comparison is a tie; but with no weights does every point have its largest score for its own class alone.", "Mit passenden Gewichten hat kein Punkt einen größeren Score für eine andere Klasse, und nicht jeder Vergleich endet mit Gleichstand; aber mit keinen Gewichten hat jeder Punkt seinen größten Score nur für seine eigene Klasse."],
  means_joint_overlapping: ["Whatever the weights are, some point has a larger score for another class, unless every comparison is a tie.", "Für alle Gewichte hat irgendein Punkt einen größeren Score für eine andere Klasse, außer wenn jeder Vergleich mit Gleichstand endet."],
  means_joint_inseparable: ["With no weights does every point have its largest score for its own class alone. Whether the classes are quasi-separable is not decided.", "Mit keinen Gewichten hat jeder Punkt seinen größten Score nur für seine eigene Klasse. Ob die Klassen quasi-trennbar sind, ist nicht entschieden."],
  means_joint_undecided: ["The search found neither separating weights nor a proof that none exist.", "Es wurden weder trennende Gewichte gefunden noch ein Beweis, dass es keine gibt."],

  live_mistake: ["Mistake {made}: point {row}, score {score}.", "Fehler {made}: Punkt {row}, Score {score}."],
  live_right: ["Point {row} is classified correctly, score {score}.", "Punkt {row} wird richtig zugeordnet, Score {score}."],
  live_start: ["The start.", "Der Anfang."],
  live_end: ["The end: {mistakes} mistakes.", "Das Ende: {mistakes} Fehler."],
  live_run: ["{mistakes} mistakes; {ended}", "{mistakes} Fehler; {ended}"],
  live_verdict: ["Verdict: {word}.", "Urteil: {word}."],
};

let place = 0;

export function setLanguage(code) {
  place = code === "de" ? 1 : 0;
  document.documentElement.lang = place ? "de" : "en";
}

export const language = () => (place ? "de" : "en");

export function t(key, values = {}) {
  const words = TEXTS[key]?.[place] ?? key;
  return words.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

export const has = (key) => key in TEXTS;

// Put the words where the page says they belong.
export function fill(root = document) {
  for (const element of root.querySelectorAll("[data-text]")) element.textContent = t(element.dataset.text);
  for (const element of root.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", t(element.dataset.label));
    if (element.tagName === "BUTTON") element.title = t(element.dataset.label);
  }
}

const MINUS = "−";

export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
  if (value === 0) return "0";
  const size = Math.abs(value);
  const plain = size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 2) : String(Number(value.toPrecision(digits)));
  return plain.replace("e+", "e").replaceAll("-", MINUS);
}

export const vector = (values, digits = 3) => `(${values.map((value) => number(value, digits)).join(", ")})`;
export const coordinates = (values) => vector(values, 4);

const live = document.getElementById("live");
let saying = 0;

// What a screen reader says next; only the last of many.
export function say(words) {
  clearTimeout(saying);
  saying = setTimeout(() => {
    live.textContent = words;
  }, 60);
}

export function errorWords(problem) {
  const key = `error_${problem.code}`;
  return has(key) ? t(key, { ...problem.values, message: problem.message }) : t("error_other", { message: problem.message });
}

const notice = document.getElementById("notice");

export function notify(words) {
  notice.textContent = words;
  notice.hidden = !words;
}

export function element(tag, { text, className, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
