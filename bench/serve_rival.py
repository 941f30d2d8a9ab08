"""What one writes in ten minutes: sentence-transformers behind FastAPI. The rival of serve.py.

python bench/serve_rival.py FOLDER PORT
"""

import sys

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sentence_transformers import SentenceTransformer

model = SentenceTransformer(sys.argv[1], device="cpu")
app = FastAPI()


class Inputs(BaseModel):
    inputs: list[str]


@app.post("/embed")
def embed(body: Inputs) -> list[list[float]]:
    return model.encode(body.inputs, show_progress_bar=False).tolist()


@app.get("/health")
def health() -> None:
    return None


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning")
