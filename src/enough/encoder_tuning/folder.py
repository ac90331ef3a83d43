"""A tuned encoder on disk: a checkpoint of transformers, and how it wants to be read.

```
config.json, model.safetensors, tokenizer.json, ...   what transformers reads
encoder.json                                          pooling, prefixes, length: `EncoderSpec`
tuning.json                                           settings, data, what was measured
README.md                                             the model card
```

The folder appears when it is whole. `load_encoder(FOLDER)` reads all of it.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from enough.bundled_models import new_folder
from enough.quiet import quiet_transformers
from enough.retrieval.encoders import SPEC_FILE, EncoderSpec
from enough.run_folders import write_json, write_whole

FORMAT = 1
TUNING_FILE = "tuning.json"

_CARD = """\
# A sentence encoder tuned for what records are worth

{base}, tuned with `enough tune-encoder`: a record is like a request if it makes the request's real
answer likelier to {generator}.

- **Data**: {source}; {requests:,} requests.
- **Measured** on users it was not tuned on, on whom the best epoch was chosen, too: the record most
  like the request gains {after:+.3f} nats a token, {before:+.3f} before, {best:+.3f} at best.
- **Limits**: made for these tasks and this generator; as a measure of meaning it is worse than what
  it was made from. Its licence is that of the encoder it was made from, and of the data.
"""


def write_encoder(
    folder: Path, model: Any, tokenizer: Any, spec: EncoderSpec, about: dict[str, Any]
) -> None:
    """Write all files; `about` is what goes into tuning.json."""
    before, after = (about["measured"][when][-1] for when in ("before", "after"))
    card = _CARD.format(
        base=about["base"],
        generator=about["generator_model"],
        source=about["source"],
        requests=sum(about["requests"]["fitted"].values()),
        before=before["gain"],
        after=after["gain"],
        best=after["best"],
    )
    with new_folder(folder) as unfinished:
        with quiet_transformers():
            model.save_pretrained(unfinished)
            tokenizer.save_pretrained(unfinished)
        reading = dataclasses.asdict(spec)
        del reading["source"]  # wherever the folder lies
        write_json(unfinished / SPEC_FILE, reading)
        write_json(unfinished / TUNING_FILE, about)
        write_whole(unfinished / "README.md", card.encode())
        unfinished.chmod(0o755)  # temporary folders are closed to others, and so are weights
        for path in unfinished.iterdir():
            path.chmod(0o644)
