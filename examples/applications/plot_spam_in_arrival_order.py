r"""
A spam filter that learns as mail arrives
=========================================

Messages arrive one at a time, and the filter classifies each of them before its label is known. The honest score is the fraction of mistakes
so far. The messages in this example are simulated: spam and other mail use 5,000 words with different frequencies, these frequencies change halfway, and 5 % of
the labels are wrong. For real data, take
the "SMS Spam Collection" of the UCI repository and count its words with scikit-learn's ``CountVectorizer``. If you save them as LIBSVM lines with
``dump_svmlight_file``, you can also train with ``separatrix learn spam.svm``.
"""

import matplotlib.pyplot as plt
import numpy as np
import separatrix as sx
from scipy import sparse
from sklearn.linear_model import SGDClassifier

rng = np.random.default_rng(0)
messages, words, length = 6000, 5000, 40
spam = rng.random(messages) < 0.3
favorite = rng.dirichlet(np.full(words, 0.02), size=2)
drifted = rng.dirichlet(np.full(words, 0.02), size=2)
common = rng.dirichlet(np.full(words, 0.3))
rows, columns = [], []
for number, kind in enumerate(spam.astype(int)):
    habit = favorite if number < messages // 2 else drifted
    drawn = rng.choice(words, length, p=0.8 * common + 0.2 * habit[kind])
    rows += [number] * length
    columns += drawn.tolist()
X = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(messages, words))
X.sum_duplicates()
y = np.where(spam ^ (rng.random(messages) < 0.05), 1, 0)

# %%
# Three learners get the same stream in pieces of 50 messages. Each predicts the labels of a piece, and then learns from it.


def stream(model):
    """Return the number of mistakes after each piece, predicted before learning from it."""
    wrong, so_far = 0, []
    for start in range(0, messages, 50):
        part = slice(start, start + 50)
        if start:
            wrong += np.count_nonzero(model.predict(X[part]) != y[part])
        model.partial_fit(X[part], y[part], classes=[0, 1])
        so_far.append(wrong)
    return np.array(so_far)


learners = {
    "perceptron": sx.Perceptron(order="cyclic"),
    "averaged perceptron": sx.Perceptron(order="cyclic", average="averaged"),
    "SGD, log loss": SGDClassifier(loss="log_loss", random_state=0),
}
figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for name, model in learners.items():
    so_far = stream(model)
    seen = np.arange(1, len(so_far) + 1) * 50
    axes.plot(seen, so_far / seen, label=name)
    print(f"{name:22} {so_far[-1] / messages:.3f} of all messages misclassified")
print(f"{'never spam':22} {y.mean():.3f}")
print(f"{'the true kind':22} {np.mean(y != spam):.3f}, the fraction of wrong labels")
axes.axvline(messages / 2, color="gray", linewidth=0.8)
axes.set(xlabel="messages seen", ylabel="fraction misclassified", ylim=(0, 0.4))
axes.legend()

# %%
# At the gray line, the vocabularies change. The plain perceptron adapts quickly, and the averaged perceptron slowly. The mistake bound of
# :ref:`chapter 2 <sphx_glr_course_plot_2_online_and_kernels.py>` holds for every stream.
